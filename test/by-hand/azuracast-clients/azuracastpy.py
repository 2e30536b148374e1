"""Calls every method of AzuracastPy that sends a request. Prints one line of JSON per call.

Environment: BASE_URL, API_KEY, STATION (id of a station that plays), AUDIO and PICTURE (paths of files).
"""

import base64
import inspect
import json
import os
import tempfile

from AzuracastPy import azuracast_client, enums
from AzuracastPy.models import hls_stream, mount_point, playlist, remote_relay, sftp_user, station_file, streamer, webhook
from AzuracastPy.models.administration import role as roles
from AzuracastPy.models.station import Station

client = azuracast_client.AzuracastClient(os.environ["BASE_URL"], os.environ["API_KEY"])
station_id = int(os.environ["STATION"])


def call(name, work, needs=True):
    """Returns what the method returns; None if it raises, or if what it needs could not be made."""
    if needs is None:
        print(json.dumps({"call": name, "result": "not called", "detail": "the record it needs was not made"}))
        return None
    try:
        value = work()
        print(json.dumps({"call": name, "result": "ok", "detail": ""}), flush=True)
        return value if value is not None else True
    except Exception as error:  # pylint: disable=broad-except
        detail = f"{type(error).__name__}: {error}"
        print(json.dumps({"call": name, "result": "failed", "detail": " ".join(detail.split())[:300]}), flush=True)
        return None


def build(model, path, **own):
    """Makes a record of the client without the keys that are newer than the client, which it refuses."""
    try:
        raw = client._request_handler.get(f"{os.environ['BASE_URL']}/api/{path}")
        names = list(inspect.signature(model.__init__).parameters)[1:]
        data = {name: raw.get(name) for name in names if not name.startswith("_")}
        return model(**data, **own)
    except Exception:  # pylint: disable=broad-except
        return None


def newest(path):
    """Returns the highest id of a list."""
    try:
        rows = client._request_handler.get(f"{os.environ['BASE_URL']}/api/{path}")
        return max(row["id"] for row in rows)
    except Exception:  # pylint: disable=broad-except
        return None


def read(name, helper, made, model, lists, one, **own):
    """Reads a created record by its id. If the client refuses newer keys, it gets the record without them."""
    rid = made.id if hasattr(made, "id") else newest(lists)
    found = call(name, lambda: helper(rid), rid)
    if rid is None:
        return None
    return found or build(model, f"{one}/{rid}", **own)


def crud(name, model, lists, helper, create, edits):
    """Creates a record, reads it by id, edits it in several ways, and deletes it."""
    made = call(f"station.{name}.create", create)
    here = f"station/{station_id}"
    one = name if name != "mount_point" else "mount"
    one = {"remote_relay": "remote", "sftp_user": "sftp-user"}.get(name, one)
    found = read(f"station.{name}(id)", helper, made, model, f"{here}/{lists}", f"{here}/{one}", _station=station)
    for label, edit in edits.items():
        call(f"{name}.{label}", lambda edit=edit: edit(found), found)
    call(f"{name}.delete", lambda: found.delete(), found)


call("client.now_playing()", lambda: client.now_playing())
call("client.now_playing(id)", lambda: client.now_playing(station_id))
call("client.stations", lambda: client.stations())
station = call("client.station", lambda: client.station(station_id))
station = station or build(Station, f"station/{station_id}", _request_handler=client._request_handler)

for method in (
    "requestable_songs status history listeners schedule files mount_points playlists podcasts remote_relays "
    "sftp_users hls_streams streamers webhooks"
).split():
    call(f"station.{method}", lambda method=method: getattr(station, method)(), station)
call("station.queue()", lambda: station.queue(), station)
queue_id = call("station.queue()[0].links", lambda: int(station.queue()[0].links.self.split("/")[-1]), station)
call("station.queue(id)", lambda: station.queue(queue_id), queue_id)
songs = None
if station:
    try:
        songs = station.requestable_songs() or None
    except Exception:  # pylint: disable=broad-except
        songs = None
call("station.request_song", lambda: station.request_song(songs[-1].request_id), songs)

if station:
    with open(os.environ["AUDIO"], "rb") as audio:
        content = base64.b64encode(audio.read()).decode()

    def upload():
        with tempfile.NamedTemporaryFile(suffix=".mp3") as copy:
            copy.write(base64.b64decode(content))
            copy.flush()
            return station.file.upload("azuracastpy/song.mp3", copy.name)

    schedule = station.playlist.generate_schedule_item("09:00", "11:00", days=["monday", "friday"])
    made_list = call(
        "station.playlist.create",
        lambda: station.playlist.create("AzuracastPy", schedule=[schedule]),
    )
    here = f"station/{station_id}"
    listed = read("station.playlist(id)", station.playlist, made_list, playlist.Playlist, f"{here}/playlists", f"{here}/playlist", _station=station)
    uploaded = call("station.file.upload", upload)
    stored = read("station.file(id)", station.file, uploaded, station_file.StationFile, f"{here}/files", f"{here}/file", _station=station)
    call("file.edit", lambda: stored.edit(title="Edited"), stored)
    call("file.playlist.add", lambda: stored.playlist.add("AzuracastPy"), stored)
    call("file.playlist.remove", lambda: stored.playlist.remove("AzuracastPy"), stored)
    call("file.get_art", lambda: stored.get_art(), stored)
    call("file.delete", lambda: stored.delete(), stored)
    call("playlist.edit", lambda: listed.edit(name="AzuracastPy 2"), listed)
    call("playlist.schedule.add", lambda: listed.schedule.add(schedule), listed)
    call(
        "playlist.schedule.remove",
        lambda: listed.schedule.remove(listed.schedule_items[0].id),
        listed and listed.schedule_items,
    )
    call("playlist.delete", lambda: listed.delete(), listed)

    crud(
        "mount_point",
        mount_point.MountPoint,
        "mounts",
        station.mount_point,
        lambda: station.mount_point.create("/azuracastpy.mp3"),
        {"edit": lambda record: record.edit(display_name="Edited")},
    )
    crud(
        "hls_stream",
        hls_stream.HLSStream,
        "hls_streams",
        station.hls_stream,
        lambda: station.hls_stream.create("azuracastpy"),
        {"edit": lambda record: record.edit(name="edited")},
    )
    crud(
        "remote_relay",
        remote_relay.RemoteRelay,
        "remotes",
        station.remote_relay,
        lambda: station.remote_relay.create("http://127.0.0.1:8100"),
        {"edit": lambda record: record.edit(display_name="Edited")},
    )
    public_key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
    crud(
        "sftp_user",
        sftp_user.SFTPUser,
        "sftp-users",
        station.sftp_user,
        lambda: station.sftp_user.create("azuracastpy", "a long enough password", []),
        {
            "edit": lambda record: record.edit(username="edited"),
            "update_password": lambda record: record.update_password("another long password"),
            "key.add": lambda record: record.key.add(public_key),
            "key.remove": lambda record: record.key.remove(public_key),
        },
    )
    crud(
        "streamer",
        streamer.Streamer,
        "streamers",
        station.streamer,
        lambda: station.streamer.create("azuracastpy", "a long enough password"),
        {
            "edit": lambda record: record.edit(display_name="Edited"),
            "update_password": lambda record: record.update_password("another long password"),
            "schedule.add": lambda record: record.schedule.add(
                station.streamer.generate_schedule_item("09:00", "11:00")
            ),
            "schedule.remove": lambda record: record.schedule.remove(record.schedule_items[0].id),
            "get_art": lambda record: record.get_art(),
        },
    )
    crud(
        "webhook",
        webhook.Webhook,
        "webhooks",
        station.webhook,
        lambda: station.webhook.create(
            "AzuracastPy",
            enums.WebhookConfigTypes.GENERIC,
            station.webhook.generate_webhook_config(
                webhook_url="https://example.com/hook",
                basic_auth_username="user",
                basic_auth_password="password",
                timeout=5,
            ),
            [enums.WebhookTriggers.SONG_CHANGED],
        ),
        {
            "edit": lambda record: record.edit(name="Edited"),
            "trigger.add": lambda record: record.trigger.add(enums.WebhookTriggers.LIVE_CONNECT),
            "trigger.remove": lambda record: record.trigger.remove(enums.WebhookTriggers.LIVE_CONNECT),
        },
    )
    podcast = call(
        "station.podcast.create",
        lambda: station.podcast.create("Podcast", "About", enums.Languages.ENGLISH),
    )
    call("station.podcast(id)", lambda: station.podcast(podcast.id), podcast)
    for method in ("edit", "get_art", "episode.create", "episode.all", "category.add", "category.remove", "delete"):
        call(f"podcast.{method}", lambda: None, None)
    call("station.perform_frontend_action", lambda: station.perform_frontend_action())
    call("station.perform_backend_action", lambda: station.perform_backend_action())
    call("station.restart", lambda: station.restart())

admin = client.admin()
stations = call("admin.stations", lambda: admin.stations())
call("admin.station(id)", lambda: admin.station(station_id))
call("admin.station(id).manage", lambda: stations[0].manage(), stations)
for method in "permissions roles custom_fields storage_locations relays settings cpu_stats".split():
    call(f"admin.{method}", lambda method=method: getattr(admin, method)())
made = call("admin.role.create", lambda: admin.role.create("AzuracastPy", [enums.GlobalPermissions.VIEW_ADMINISTRATION]))
role = read("admin.role(id)", admin.role, made, roles.Role, "admin/roles", "admin/role", _admin=admin)
call("role.edit", lambda: role.edit(name="Edited"), role)
call("role.permission.add_global", lambda: role.permission.add_global(enums.GlobalPermissions.VIEW_SYSTEM_LOGS), role)
call(
    "role.permission.remove_global",
    lambda: role.permission.remove_global(enums.GlobalPermissions.VIEW_SYSTEM_LOGS),
    role,
)
call("role.delete", lambda: role.delete(), role)
made = call("admin.custom_field.create", lambda: admin.custom_field.create("AzuracastPy", "azuracastpy"))
field = call("admin.custom_field(id)", lambda: admin.custom_field(made.id), made)
call("custom_field.edit", lambda: field.edit(name="Edited"), field)
call("custom_field.delete", lambda: field.delete(), field)
locations = call("admin.storage_locations", lambda: admin.storage_locations())
call("admin.storage_location(id)", lambda: admin.storage_location(locations[0].id), locations or None)
settings = call("admin.settings", lambda: admin.settings())
call("settings.edit", lambda: settings.edit(instance_name="AzuracastPy"), settings)
