import { chipView } from '../ui/controls.ts'
import { formatCount } from '../ui/text.ts'
import { startCopyWith, type ResourceView, recordTextOf } from './resource.ts'

/** Mounts and HLS streams: the addresses under which listeners hear a station. */
export const mountsResourceView: ResourceView = {
  title: 'Mounts',
  noun: 'mount',
  emptyText: 'This station has no mounts, so listeners have no address to connect to.',
  paths: { list: '/api/station/{station_id}/hls_streams', one: '/api/station/{station_id}/hls_stream/{id}' },
  write: 'manageMounts',
  columns: [
    { title: 'Path', view: record => recordTextOf(record, 'name') },
    { title: 'Name', style: 'wide', view: record => recordTextOf(record, 'display_name') },
    {
      title: 'AutoDJ',
      style: 'wide',
      view: record =>
        record['enable_autodj'] === true
          ? `${recordTextOf(record, 'autodj_format')}, ${recordTextOf(record, 'autodj_bitrate')} kbit/s`
          : 'No'
    },
    { title: 'Listeners', style: 'count wide', view: record => recordTextOf(record, 'listeners_total') },
    {
      title: 'State',
      view: record => (record['is_default'] === true ? chipView({ text: 'Default', tone: 'good' }) : '')
    }
  ],
  nameOf: record => recordTextOf(record, 'name'),
  toCopy: startCopyWith(record => ({
    name: `${recordTextOf(record, 'name')}-copy`,
    display_name: '',
    is_default: false
  })),
  describeLoss: record =>
    `${recordTextOf(record, 'name')} has ${formatCount(Number(record['listeners_total']), 'listener')}. Players that use its address stop, and its settings are lost.`
}

/** Relays: streams of the station on servers of third parties. */
export const remotesResourceView: ResourceView = {
  title: 'Relays',
  noun: 'relay',
  emptyText: 'This station has no relays. A relay is a stream of this station on another server.',
  paths: { list: '/api/station/{station_id}/remotes', one: '/api/station/{station_id}/remote/{id}' },
  write: 'manageRemotes',
  columns: [
    { title: 'Name', view: record => recordTextOf(record, 'name') },
    { title: 'URL', style: 'wide', view: record => recordTextOf(record, 'url') },
    { title: 'Polled as', view: record => recordTextOf(record, 'type') || 'Not polled' },
    { title: 'Listeners', style: 'count wide', view: record => recordTextOf(record, 'listeners_total') }
  ],
  nameOf: record => recordTextOf(record, 'name'),
  toCopy: startCopyWith(record => ({ name: `${recordTextOf(record, 'name')} (copy)` })),
  describeLoss: record =>
    `Its ${formatCount(Number(record['listeners_total']), 'listener')} are no longer counted, and players no longer offer ${recordTextOf(record, 'url')}.`
}

/** Accounts for uploads by SFTP. */
export const sftpUsersResourceView: ResourceView = {
  title: 'SFTP users',
  noun: 'SFTP user',
  emptyText:
    'This station has no SFTP users. With an SFTP server beside Cuewire, they copy files to the media folder.',
  paths: { list: '/api/station/{station_id}/sftp-users', one: '/api/station/{station_id}/sftp-user/{id}' },
  write: 'manageMedia',
  columns: [
    { title: 'Username', view: record => recordTextOf(record, 'username') },
    {
      title: 'Public keys',
      style: 'count',
      view: record =>
        recordTextOf(record, 'publicKeys')
          .split('\n')
          .filter(line => /^\S*ssh|^ecdsa/.test(line)).length
    }
  ],
  nameOf: record => recordTextOf(record, 'username'),
  toCopy: startCopyWith(record => ({ username: `${recordTextOf(record, 'username')}-copy` })),
  describeLoss: record =>
    `${recordTextOf(record, 'username')} can no longer log in. The password and the public keys are lost; uploaded files stay.`
}
