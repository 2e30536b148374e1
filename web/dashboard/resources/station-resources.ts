import { chipView } from '../ui/controls.ts'
import { formatCount } from '../ui/text.ts'
import { copyWith, type ResourceView, textOf } from './resource.ts'

/** Mounts and HLS streams: the addresses under which listeners hear a station. */
export const mounts: ResourceView = {
  title: 'Mounts',
  noun: 'mount',
  emptyText: 'This station has no mounts, so listeners have no address to connect to.',
  paths: { list: '/api/station/{station_id}/hls_streams', one: '/api/station/{station_id}/hls_stream/{id}' },
  write: 'manageMounts',
  columns: [
    { title: 'Path', view: record => textOf(record, 'name') },
    { title: 'Name', style: 'wide', view: record => textOf(record, 'display_name') },
    {
      title: 'AutoDJ',
      style: 'wide',
      view: record =>
        record['enable_autodj'] === true
          ? `${textOf(record, 'autodj_format')}, ${textOf(record, 'autodj_bitrate')} kbit/s`
          : 'No'
    },
    { title: 'Listeners', style: 'count wide', view: record => textOf(record, 'listeners_total') },
    {
      title: 'State',
      view: record => (record['is_default'] === true ? chipView({ text: 'Default', tone: 'good' }) : '')
    }
  ],
  nameOf: record => textOf(record, 'name'),
  toCopy: copyWith(record => ({
    name: `${textOf(record, 'name')}-copy`,
    display_name: '',
    is_default: false
  })),
  describeLoss: record =>
    `${textOf(record, 'name')} has ${formatCount(Number(record['listeners_total']), 'listener')}. Players that use its address stop, and its settings are lost.`
}

/** Relays: streams of the station on servers of third parties. */
export const remotes: ResourceView = {
  title: 'Relays',
  noun: 'relay',
  emptyText: 'This station has no relays. A relay is a stream of this station on another server.',
  paths: { list: '/api/station/{station_id}/remotes', one: '/api/station/{station_id}/remote/{id}' },
  write: 'manageRemotes',
  columns: [
    { title: 'Name', view: record => textOf(record, 'name') },
    { title: 'URL', style: 'wide', view: record => textOf(record, 'url') },
    { title: 'Polled as', view: record => textOf(record, 'type') || 'Not polled' },
    { title: 'Listeners', style: 'count wide', view: record => textOf(record, 'listeners_total') }
  ],
  nameOf: record => textOf(record, 'name'),
  toCopy: copyWith(record => ({ name: `${textOf(record, 'name')} (copy)` })),
  describeLoss: record =>
    `Its ${formatCount(Number(record['listeners_total']), 'listener')} are no longer counted, and players no longer offer ${textOf(record, 'url')}.`
}

/** Accounts for uploads by SFTP. */
export const sftpUsers: ResourceView = {
  title: 'SFTP users',
  noun: 'SFTP user',
  emptyText:
    'This station has no SFTP users. With an SFTP server beside Cuewire, they copy files to the media folder.',
  paths: { list: '/api/station/{station_id}/sftp-users', one: '/api/station/{station_id}/sftp-user/{id}' },
  write: 'manageMedia',
  columns: [
    { title: 'Username', view: record => textOf(record, 'username') },
    {
      title: 'Public keys',
      style: 'count',
      view: record =>
        textOf(record, 'publicKeys')
          .split('\n')
          .filter(line => /^\S*ssh|^ecdsa/.test(line)).length
    }
  ],
  nameOf: record => textOf(record, 'username'),
  toCopy: copyWith(record => ({ username: `${textOf(record, 'username')}-copy` })),
  describeLoss: record =>
    `${textOf(record, 'username')} can no longer log in. The password and the public keys are lost; uploaded files stay.`
}
