<?php

/**
 * Calls every method of AzuraCast's own PHP client that sends a request. Prints one line of JSON per call.
 *
 * Environment: BASE_URL, API_KEY, STATION, AUDIO (path of a file), CLIENT (folder of the client).
 */

declare(strict_types=1);

require 'GuzzleHttp/autoload.php';
require __DIR__ . '/call.php';

spl_autoload_register(static function (string $class): void {
    $prefix = 'AzuraCast\\Api\\';
    if (str_starts_with($class, $prefix)) {
        $path = str_replace('\\', '/', substr($class, strlen($prefix)));
        require getenv('CLIENT') . '/src/' . $path . '.php';
    }
});

use AzuraCast\Api\Client;
use AzuraCast\Api\Dto;

$client = Client::create(getenv('BASE_URL'), getenv('API_KEY'));
$stationId = (int)getenv('STATION');
$station = $client->station($stationId);
// The client encodes it.
$audio = file_get_contents(getenv('AUDIO'));

call('nowPlaying', fn() => $client->nowPlaying());
call('stations', fn() => $client->stations());
call('station.get', fn() => $station->get());
call('station.nowPlaying', fn() => $station->nowPlaying());
call('station.status', fn() => $station->status());
call('station.history', fn() => $station->history());
call('station.history(start, end)', fn() => $station->history(new DateTime('-1 hour'), new DateTime('now')));
call('station.listeners', fn() => $station->listeners());
call('station.mounts', fn() => $station->mounts());
$requests = call('station.requests.list', fn() => $station->requests()->list());
$songs = $requests?->getRequestableSongs() ?? [];
call(
    'station.requests.submit',
    fn() => $station->requests()->submit((string)end($songs)->getRequestableSongId()),
    $songs !== []
);
call('station.media.list', fn() => $station->media()->list());
$media = call(
    'station.media.upload',
    fn() => $station->media()->upload(new Dto\UploadFileDto('php-api-client/song.mp3', $audio))
);
call('station.media.art', fn() => $station->media()->art($media->getUniqueId()), $media !== null);

call('station.streamers.list', fn() => $station->streamers()->list());
$password = 'a long enough password';
$streamer = call(
    'station.streamers.create',
    fn() => $station->streamers()->create('php_client', $password, 'PHP client', 'Comments', true)
);
call('station.streamers.get', fn() => $station->streamers()->get($streamer->getId()), $streamer !== null);
call(
    'station.streamers.update',
    fn() => $station->streamers()->update($streamer->getId(), 'php_client', $password, 'Changed', 'Comments', true),
    $streamer !== null
);
call('station.streamers.delete', fn() => $station->streamers()->delete($streamer->getId()), $streamer !== null);

$admin = $client->admin();
call('admin.permissions', fn() => $admin->permissions());
call('admin.relays.list', fn() => $admin->relays()->list());
call(
    'admin.relays.update',
    fn() => $admin->relays()->update(new Dto\AdminRelayUpdateDto('https://relay.example.com', 'Relay', true, []))
);

$fields = $admin->customFields();
call('admin.customFields.list', fn() => $fields->list());
$field = call('admin.customFields.create', fn() => $fields->create('PHP client', 'php_client'));
call('admin.customFields.get', fn() => $fields->get($field->getId()), $field !== null);
call('admin.customFields.update', fn() => $fields->update($field->getId(), 'Changed', 'php_client'), $field !== null);
call('admin.customFields.delete', fn() => $fields->delete($field->getId()), $field !== null);

$roles = $admin->roles();
call('admin.roles.list', fn() => $roles->list());
$role = call('admin.roles.create', fn() => $roles->create('PHP client', ['view administration'], []));
call('admin.roles.get', fn() => $roles->get($role->getId()), $role !== null);
call(
    'admin.roles.update',
    fn() => $roles->update($role->getId(), 'Changed', [], [$stationId => ['view station reports']]),
    $role !== null
);

$users = $admin->users();
call('admin.users.list', fn() => $users->list());
$user = call(
    'admin.users.create',
    fn() => $users->create('php@example.com', $password, 'PHP client', 'en_US', 'light', $role === null ? [] : [$role], [])
);
call('admin.users.get', fn() => $users->get($user->getId()), $user !== null);
call(
    'admin.users.update',
    fn() => $users->update($user->getId(), 'php@example.com', '', 'Changed', 'en_US', 'light', $role === null ? [] : [$role], []),
    $user !== null
);
call('admin.users.delete', fn() => $users->delete($user->getId()), $user !== null);
call('admin.roles.delete', fn() => $roles->delete($role->getId()), $role !== null);

$settings = call('admin.settings.list', fn() => $admin->settings()->list());
call('admin.settings.update', fn() => $admin->settings()->update(
    $settings->getBaseUrl(),
    'PHP client',
    $settings->getPreferBrowserUrl(),
    $settings->getUseRadioProxy(),
    $settings->getHistoryKeepDays(),
    $settings->getAlwaysUseSsl(),
    $settings->getApiAccessControl(),
    $settings->getAnalytics(),
    $settings->getCentralUpdatesChannel(),
    $settings->getPublicTheme(),
    $settings->getHideAlbumArt(),
    $settings->getHomepageRedirectUrl(),
    $settings->getDefaultAlbumArtUrl(),
    $settings->getHideProductName(),
    $settings->getCustomCssPublic(),
    $settings->getCustomJsPublic(),
    $settings->getCustomCssInternal()
), $settings !== null);
call('station.frontend(restart)', fn() => $station->frontend('restart'));
call('station.backend(restart)', fn() => $station->backend('restart'));
call('station.restart', fn() => $station->restart());
