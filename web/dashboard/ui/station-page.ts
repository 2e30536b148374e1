import type { NowPlaying } from '../../client/interface.ts'
import { watchPermissions } from '../api/permissions.ts'
import { reactiveProperties, StationElement } from './light-element.ts'
import type { RoutePlace } from './route.ts'

/** The page of a section of a station. The frame sets its properties. */
export class StationPage extends StationElement {
  static override properties = reactiveProperties<StationPage>('np', 'isOutdated', 'item', 'folder')
  declare station: string
  declare np: NowPlaying
  /** Whether the server does not respond. */
  declare isOutdated: boolean
  /** What the address names: the record in the form, and the folder. */
  declare item: RoutePlace['item']
  declare folder: RoutePlace['folder']

  /** What the key allows for this station. */
  protected readonly permissions = watchPermissions(this, () => this.station)
}
