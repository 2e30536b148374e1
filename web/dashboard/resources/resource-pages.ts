import { html } from 'lit'

import { defineElements, LightElement, reactiveProperties } from '../ui/light-element.ts'
import { installationLink, type InstallationSection, stationLink, type StationSection } from '../ui/route.ts'
import { StationPage } from '../ui/station-page.ts'
import { apiKeysResourceView } from './api-keys.ts'
import {
  customFieldsResourceView,
  newsResourceView,
  storageLocationsResourceView
} from './installation-resources.ts'
import { ResourceList } from './resource-list.ts'
import type { ResourceView } from './resource.ts'
import { mountsResourceView, remotesResourceView, sftpUsersResourceView } from './station-resources.ts'

/** The page of a resource that belongs to a station. */
const stationPage = (section: StationSection, resource: ResourceView) =>
  class extends StationPage {
    protected override render() {
      return html`<resource-list
        .resource=${resource}
        .station=${this.station}
        .item=${this.item}
        .linkTo=${(item: string) => stationLink(this.station, section, item)}
      ></resource-list>`
    }
  }

/** The page of a resource of the installation. */
const installationPage = (section: InstallationSection, resource: ResourceView) =>
  class ResourcePage extends LightElement {
    static override properties = reactiveProperties<ResourcePage>('item')
    declare item: string

    protected override render() {
      return html`<resource-list
        .resource=${resource}
        .item=${this.item}
        .linkTo=${(item: string) => installationLink(section, item)}
      ></resource-list>`
    }
  }

defineElements({
  'resource-list': ResourceList,
  'mounts-page': stationPage('mounts', mountsResourceView),
  'remotes-page': stationPage('remotes', remotesResourceView),
  'sftp-page': stationPage('sftp', sftpUsersResourceView),
  'keys-page': installationPage('keys', apiKeysResourceView),
  'storage-page': installationPage('storage', storageLocationsResourceView),
  'fields-page': installationPage('fields', customFieldsResourceView),
  'news-page': installationPage('news', newsResourceView)
})
