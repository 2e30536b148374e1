import { InstallationSummary } from './installation/installation-summary.ts'
import { CuewireDashboard } from './shell/dashboard.ts'
import { InstallationFrame } from './shell/installation-frame.ts'
import { NoticeList } from './shell/notice-list.ts'
import { SignIn } from './shell/sign-in.ts'
import { ViewLoader } from './shell/view-loader.ts'
import { SongCover } from './station/song-cover.ts'
import { StationView } from './station/station-view.ts'
import { SparkLine } from './stations/spark-line.ts'
import { StationCard } from './stations/station-card.ts'
import { StationTable } from './stations/station-table.ts'
import { StationsView } from './stations/stations-view.ts'
import { defineElements } from './ui/light-element.ts'

/**
 * The custom elements of the frame and of the first view; `views.ts` loads the others. The last one renders
 * the others, so it is defined after them.
 */
defineElements({
  'installation-frame': InstallationFrame,
  'installation-summary': InstallationSummary,
  'notice-list': NoticeList,
  'sign-in': SignIn,
  'song-cover': SongCover,
  'spark-line': SparkLine,
  'station-card': StationCard,
  'station-table': StationTable,
  'station-view': StationView,
  'stations-view': StationsView,
  'view-loader': ViewLoader,
  'cuewire-dashboard': CuewireDashboard
})
