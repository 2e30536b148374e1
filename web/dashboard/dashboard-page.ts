import { InstallationView, StorageGauges } from './installation/installation-view.ts'
import { NotificationList } from './installation/notification-list.ts'
import { SystemHealth } from './installation/system-health.ts'
import { StationQueue } from './queue/station-queue.ts'
import { StationPlaylists } from './schedule/station-playlists.ts'
import { StationSchedule } from './schedule/station-schedule.ts'
import { CuewireDashboard } from './shell/dashboard.ts'
import { NoticeList } from './shell/notice-list.ts'
import { SignIn } from './shell/sign-in.ts'
import { DayChart } from './station/day-chart.ts'
import { BroadcastList, PollList, StationStreamers } from './station/live-shows.ts'
import { OnAir } from './station/on-air.ts'
import { SongCover } from './station/song-cover.ts'
import { StationHistory } from './station/station-history.ts'
import { StationView } from './station/station-view.ts'
import { SparkLine } from './stations/spark-line.ts'
import { StationCard } from './stations/station-card.ts'
import { StationsView } from './stations/stations-view.ts'
import { HookCard } from './web-hooks/hook-card.ts'
import { HookFailure } from './web-hooks/hook-failure.ts'
import { StationHooks } from './web-hooks/station-hooks.ts'

/** The custom elements of the page. The last one renders the others, so it is defined after them. */
const elements = {
  'broadcast-list': BroadcastList,
  'day-chart': DayChart,
  'hook-card': HookCard,
  'hook-failure': HookFailure,
  'installation-view': InstallationView,
  'notice-list': NoticeList,
  'notification-list': NotificationList,
  'on-air': OnAir,
  'poll-list': PollList,
  'sign-in': SignIn,
  'song-cover': SongCover,
  'spark-line': SparkLine,
  'station-card': StationCard,
  'station-history': StationHistory,
  'station-hooks': StationHooks,
  'station-playlists': StationPlaylists,
  'station-queue': StationQueue,
  'station-schedule': StationSchedule,
  'station-streamers': StationStreamers,
  'station-view': StationView,
  'stations-view': StationsView,
  'storage-gauges': StorageGauges,
  'system-health': SystemHealth,
  'cuewire-dashboard': CuewireDashboard
}

for (const [name, element] of Object.entries(elements)) customElements.define(name, element)
