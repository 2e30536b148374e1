import { html } from 'lit'

import { defineElements, LightElement } from '../ui/light-element.ts'
import { StationPage } from '../ui/station-page.ts'
import { apiKeys } from './api-keys.ts'
import { customFields, news, storageLocations } from './installation-resources.ts'
import { ResourceList } from './resource-list.ts'
import type { ResourceView } from './resource.ts'
import { mounts, remotes, sftpUsers } from './station-resources.ts'

/** The page of a resource that belongs to a station. */
const stationPage = (resource: ResourceView) =>
  class extends StationPage {
    protected override render() {
      return html`<resource-list .resource=${resource} .station=${this.station}></resource-list>`
    }
  }

/** The page of a resource of the installation. */
const installationPage = (resource: ResourceView) =>
  class extends LightElement {
    protected override render() {
      return html`<resource-list .resource=${resource}></resource-list>`
    }
  }

defineElements({
  'resource-list': ResourceList,
  'mounts-page': stationPage(mounts),
  'remotes-page': stationPage(remotes),
  'sftp-page': stationPage(sftpUsers),
  'keys-page': installationPage(apiKeys),
  'storage-page': installationPage(storageLocations),
  'fields-page': installationPage(customFields),
  'news-page': installationPage(news)
})
