import { html } from 'lit'

import { callApi } from '../api/call-api.ts'
import { startCopyWith, flagChip, type ResourceView, recordTextOf, toDisplayText } from './resource.ts'

/** Metadata that operators define for the songs of all stations. */
export const customFieldsResourceView: ResourceView = {
  title: 'Custom fields',
  noun: 'custom field',
  emptyText: 'There are no custom fields. They add metadata to songs, such as the mood.',
  paths: { list: '/api/admin/custom_fields', one: '/api/admin/custom_field/{id}' },
  write: 'manageFields',
  columns: [
    { title: 'Name', view: record => recordTextOf(record, 'name') },
    { title: 'Short name', view: record => html`<code>${recordTextOf(record, 'short_name')}</code>` },
    { title: 'Read from tag', style: 'wide', view: record => recordTextOf(record, 'auto_assign') || '–' }
  ],
  nameOf: record => recordTextOf(record, 'name'),
  toCopy: startCopyWith(record => ({ name: `${recordTextOf(record, 'name')} (copy)`, short_name: '' })),
  describeLoss: record =>
    `The values of “${recordTextOf(record, 'name')}” of all songs of all stations are lost, and players no longer get them.`
}

/** Articles for operators and websites. */
export const newsResourceView: ResourceView = {
  title: 'News',
  noun: 'article',
  emptyText: 'There are no articles. Every API key can read what is published here.',
  paths: { list: '/api/v1/main/news', one: '/api/v1/main/news/{article_id}' },
  idKey: 'article_id',
  rowsKey: 'articles',
  recordKey: 'article',
  write: 'manageNews',
  columns: [
    { title: 'Title', view: record => recordTextOf(record, 'title') },
    { title: 'Type', style: 'wide', view: record => recordTextOf(record, 'type') },
    { title: 'State', view: record => flagChip(record['is_published'], 'Published', 'Draft') }
  ],
  nameOf: record => recordTextOf(record, 'title'),
  toCopy: startCopyWith(record => ({
    title: `${recordTextOf(record, 'title')} (copy)`,
    is_published: false
  })),
  describeLoss: () => 'The article is lost, and websites that show it no longer get it.'
}

const adapterFields: Readonly<Record<string, RegExp>> = {
  local: /^(?!s3|dropbox|sftp)/,
  s3: /^(?!dropbox|sftp)/,
  dropbox: /^(?!s3|sftp)/,
  sftp: /^(?!s3|dropbox)/
}

const checkTimeoutMs = 30_000

/** Folders and buckets for media, recordings, podcasts and backups. */
export const storageLocationsResourceView: ResourceView = {
  title: 'Storage locations',
  noun: 'storage location',
  emptyText:
    'There are no storage locations. Stations then keep their media in the data folder of the server.',
  paths: { list: '/api/admin/storage_locations', one: '/api/admin/storage_location/{id}' },
  write: 'manageStorage',
  columns: [
    { title: 'Location', view: record => recordTextOf(record, 'uri') },
    { title: 'Content', style: 'wide', view: record => recordTextOf(record, 'type').replace('station_', '') },
    { title: 'Used', style: 'count', view: record => recordTextOf(record, 'storageUsed') },
    {
      title: 'Stations',
      style: 'wide',
      view: ({ stations }) => (Array.isArray(stations) ? stations.join(', ') : '')
    }
  ],
  nameOf: record => recordTextOf(record, 'uri'),
  openFields(fields) {
    const shown = fields.filter(({ name }) => name !== 'storageQuotaBytes')
    return read => {
      const pattern = adapterFields[toDisplayText(read('adapter')) || 'local'] ?? /^/
      return shown.filter(({ name }) => pattern.test(name))
    }
  },
  describeLoss: ({ stations, ...record }) =>
    `Its ${recordTextOf(record, 'storageUsed') || 'files'} stay where they are; the settings and the stored passwords are lost.${Array.isArray(stations) && stations.length > 0 ? ` It is used by ${stations.join(', ')}, so it can only be deleted after these stations use another one.` : ''}`,
  actions: [
    {
      label: 'Check',
      async run(record) {
        const path = `api/admin/storage_location/${recordTextOf(record, 'id')}?check=1` as const
        await callApi('PUT', path, { body: {}, timeoutMs: checkTimeoutMs })
        return `${recordTextOf(record, 'uri')} can be read and written.`
      }
    }
  ]
}
