<?php

/**
 * Calls every method of a PHP client that was generated from AzuraCast's OpenAPI document. Prints one line of
 * JSON per call.
 *
 * Environment: BASE_URL, API_KEY, STATION, AUDIO (path of a file), CLIENT (folder of the client).
 */

declare(strict_types=1);

require 'GuzzleHttp/autoload.php';
require __DIR__ . '/call.php';

spl_autoload_register(static function (string $class): void {
    $path = getenv('CLIENT') . '/lib/' . str_replace('\\', '/', substr($class, strlen(NAME))) . '.php';
    if (str_starts_with($class, NAME) && is_file($path)) {
        require $path;
    }
});
// The namespace, as the first file of the client declares it.
preg_match('/^namespace (.+);/m', file_get_contents(getenv('CLIENT') . '/lib/Configuration.php'), $found);
define('NAME', $found[1] . '\\');

$configuration = (NAME . 'Configuration')::getDefaultConfiguration()
    ->setApiKey('X-API-Key', getenv('API_KEY'))
    ->setHost(getenv('BASE_URL') . '/api');
$http = new GuzzleHttp\Client(['timeout' => 30]);
$station = (int)getenv('STATION');

/** Calls one method of one of the API classes. */
function ask(string $api, string $method, array $arguments = [], bool $hasRecord = true): mixed
{
    global $configuration, $http;
    $class = NAME . 'Api\\' . $api . 'Api';
    return call("$api.$method", fn() => (new $class($http, $configuration))->$method(...$arguments), $hasRecord);
}

function idOf(mixed $record): mixed
{
    return is_object($record) && method_exists($record, 'getId') ? $record->getId() : ($record->id ?? null);
}

/** Lists, creates, reads, changes and deletes records. */
function crud(string $api, array $names, array $before, array $body, array $change, ?callable $more = null): void
{
    [$list, $add, $get, $edit, $delete] = $names;
    ask($api, $list, $before);
    $id = idOf(ask($api, $add, [...$before, $body]));
    ask($api, $get, [...$before, $id], $id !== null);
    ask($api, $edit, [...$before, $id, $change], $id !== null);
    if ($more !== null) {
        $more($id);
    }
    ask($api, $delete, [...$before, $id], $id !== null);
}

ask('Miscellaneous', 'getStatus');
ask('Miscellaneous', 'getTime');
ask('NowPlaying', 'getAllNowPlaying');
ask('NowPlaying', 'getStationNowPlaying', [$station]);
ask('StationsGeneral', 'getStations');
ask('StationsGeneral', 'getStation', [$station]);
ask('StationsGeneral', 'getStationFallback', [$station]);
ask('StationsGeneral', 'postStationFallback', [$station]);
ask('StationsGeneral', 'deleteStationFallback', [$station]);
ask('StationsHistory', 'getStationHistory', [$station]);
ask('StationsHistory', 'getStationHistory', [$station, date('Y-m-d', time() - 86400), date('Y-m-d', time() + 86400)]);
ask('StationsListeners', 'getStationListeners', [$station]);
ask('StationsSchedules', 'getSchedule', [$station]);
ask('StationsServiceControl', 'getServiceStatus', [$station]);
$songs = ask('StationsSongRequests', 'getRequestableSongs', [$station]);
$song = is_array($songs) && $songs !== [] ? end($songs)->getRequestId() : null;
ask('StationsSongRequests', 'submitSongRequest', [$station, $song], $song !== null);
$queue = ask('StationsQueue', 'getQueue', [$station]);
$links = is_array($queue) && $queue !== [] ? (array)(end($queue)->getLinks() ?? []) : [];
$item = isset($links['self']) ? (int)basename((string)$links['self']) : null;
ask('StationsQueue', 'getQueueItem', [$station, $item], $item !== null);
ask('StationsQueue', 'deleteQueueItem', [$station, $item], $item !== null);

ask('StationsMedia', 'getFiles', [$station]);
$audio = base64_encode(file_get_contents(getenv('AUDIO')));
$file = ask('StationsMedia', 'addFile', [$station, ['path' => 'generated/song.mp3', 'file' => $audio]]);
$id = idOf($file);
$media = $id === null ? null : $file->getUniqueId();
ask('StationsMedia', 'getFile', [$station, $id], $id !== null);
ask('StationsMedia', 'editFile', [$station, $id, ['title' => 'Changed']], $id !== null);
ask('StationsMedia', 'getMediaArt', [$station, $media], $media !== null);
ask('StationsMedia', 'postMediaArt', [$station, $media], $media !== null);
ask('StationsMedia', 'deleteMediaArt', [$station, $media], $media !== null);
ask('StationsMedia', 'deleteFile', [$station, $id], $id !== null);

crud(
    'StationsPlaylists',
    ['getPlaylists', 'addPlaylist', 'getPlaylist', 'editPlaylist', 'deletePlaylist'],
    [$station],
    ['name' => 'Generated', 'source' => 'songs', 'type' => 'default', 'weight' => 3],
    ['name' => 'Changed']
);
crud(
    'StationsMountPoints',
    ['getStationMounts', 'addMount', 'getMount', 'editMount', 'deleteMount'],
    [$station],
    ['name' => '/generated.mp3', 'enable_autodj' => true, 'autodj_format' => 'mp3', 'autodj_bitrate' => 128],
    ['display_name' => 'Changed'],
    static function (mixed $id) use ($station): void {
        foreach (['getMountIntro', 'postMountIntro', 'deleteMountIntro'] as $method) {
            ask('StationsMountPoints', $method, [$station, $id], $id !== null);
        }
    }
);
crud(
    'StationsHLSStreams',
    ['getHlsStreams', 'addHlsStream', 'getHlsStream', 'editHlsStream', 'deleteHlsStream'],
    [$station],
    ['name' => 'generated', 'format' => 'aac', 'bitrate' => 128],
    ['bitrate' => 96]
);
crud(
    'StationsRemoteRelays',
    ['getRelays', 'addRelay', 'getRelay', 'editRelay', 'deleteRelay'],
    [$station],
    ['display_name' => 'Generated', 'type' => 'icecast', 'url' => 'http://127.0.0.1:8100', 'mount' => '/a.mp3'],
    ['display_name' => 'Changed']
);
crud(
    'StationsSFTPUsers',
    ['getSftpUsers', 'addSftpUser', 'getSftpUser', 'editSftpUser', 'deleteSftpUser'],
    [$station],
    ['username' => 'generated', 'password' => 'a long enough password', 'publicKeys' => null],
    ['username' => 'changed']
);
crud(
    'StationsStreamersDJs',
    ['getStreamers', 'addStreamer', 'getStreamer', 'editStreamer', 'deleteStreamer'],
    [$station],
    ['streamer_username' => 'generated', 'streamer_password' => 'a long enough password', 'display_name' => 'DJ'],
    ['display_name' => 'Changed']
);
crud(
    'StationsWebHooks',
    ['getWebhooks', 'addWebhook', 'getWebhook', 'editWebhook', 'deleteWebhook'],
    [$station],
    [
        'name' => 'Generated',
        'type' => 'generic',
        'triggers' => ['song_changed'],
        'config' => ['webhook_url' => 'https://example.com/hook'],
    ],
    ['name' => 'Changed']
);

ask('AdministrationCPUStats', 'getServerStats');
ask('AdministrationRelays', 'internalGetRelayDetails');
ask('AdministrationRoles', 'getPermissions');
ask('AdministrationSettings', 'getSettings');
ask('AdministrationSettings', 'editSettings', [['instance_name' => 'Generated']]);
crud(
    'AdministrationCustomFields',
    ['getCustomFields', 'addCustomField', 'getCustomField', 'editCustomField', 'deleteCustomField'],
    [],
    ['name' => 'Generated', 'short_name' => 'generated'],
    ['name' => 'Changed']
);
crud(
    'AdministrationRoles',
    ['getRoles', 'addRole', 'getRole', 'editRole', 'deleteRole'],
    [],
    ['name' => 'Generated', 'permissions' => ['global' => ['view administration'], 'station' => []]],
    ['name' => 'Changed']
);
crud(
    'AdministrationUsers',
    ['getUsers', 'addUser', 'getUser', 'editUser', 'deleteUser'],
    [],
    ['email' => 'generated@example.com', 'new_password' => 'a long enough password', 'name' => 'Generated', 'roles' => []],
    ['name' => 'Changed']
);
crud(
    'AdministrationStorageLocations',
    ['getStorageLocations', 'addStorageLocation', 'getStorageLocation', 'editStorageLocation', 'deleteStorageLocation'],
    [],
    ['type' => 'station_media', 'adapter' => 'local', 'path' => getenv('STORAGE') . '/generated'],
    ['type' => 'station_media', 'adapter' => 'local', 'path' => getenv('STORAGE') . '/changed']
);
crud(
    'AdministrationStations',
    ['adminGetStations', 'adminAddStation', 'adminGetStation', 'adminEditStation', 'adminDeleteStation'],
    [],
    [
        'name' => 'Generated',
        'short_name' => 'generated',
        'frontend_type' => 'icecast',
        'backend_type' => 'liquidsoap',
        'timezone' => 'UTC',
    ],
    ['name' => 'Changed']
);

// Not part of Cuewire; the document of AzuraCast has them.
ask('StationsPodcasts', 'getPodcasts', [$station]);
ask('StationsPodcasts', 'addPodcast', [$station, ['title' => 'Generated', 'description' => 'About', 'language' => 'en']]);
foreach (['getPodcast', 'editPodcast', 'deletePodcast', 'getPodcastArt', 'postPodcastArt', 'deletePodcastArt', 'getEpisodes', 'addEpisode'] as $method) {
    ask('StationsPodcasts', $method, [$station, '1']);
}
foreach (['getEpisode', 'editEpisode', 'deleteEpisode', 'getPodcastEpisodeArt', 'postPodcastEpisodeArt', 'deletePodcastEpisodeArt', 'getPodcastEpisodeMedia', 'postPodcastEpisodeMedia', 'deletePodcastEpisodeMedia'] as $method) {
    ask('StationsPodcasts', $method, [$station, '1', '1']);
}
foreach (['getStereoToolConfiguration', 'postStereoToolConfiguration', 'deleteStereoToolConfiguration'] as $method) {
    ask('StationsBroadcasting', $method, [$station]);
}
ask('StationsServiceControl', 'doFrontendServiceAction', [$station, 'restart']);
ask('StationsServiceControl', 'doBackendServiceAction', [$station, 'restart']);
ask('StationsServiceControl', 'restartServices', [$station]);
