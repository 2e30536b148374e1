import { BroadcastList } from './broadcast-list.ts'
import { CuewireDashboard } from './dashboard.ts'
import { DayChart } from './day-chart.ts'
import { HookCard } from './hook-card.ts'
import { HookTrouble } from './hook-trouble.ts'
import { NoticeList } from './notice-list.ts'
import { NotificationList } from './notification-list.ts'
import { OnAir } from './on-air.ts'
import { PollList } from './poll-list.ts'
import { SignIn } from './sign-in.ts'
import { SongCover } from './song-cover.ts'
import { SparkLine } from './spark-line.ts'
import { StationCard } from './station-card.ts'
import { StationHistory } from './station-history.ts'
import { StationHooks } from './station-hooks.ts'
import { StationPlaylists } from './station-playlists.ts'
import { StationQueue } from './station-queue.ts'
import { StationSchedule } from './station-schedule.ts'
import { StationStreamers } from './station-streamers.ts'
import { StationView } from './station-view.ts'
import { StationsView } from './stations-view.ts'
import { InstallationView, StorageGauges } from './storage-gauges.ts'
import { SystemHealth } from './system-health.ts'

/** Every element of the page. The last one draws all others. */
const elements = {
  'broadcast-list': BroadcastList,
  'day-chart': DayChart,
  'hook-card': HookCard,
  'hook-trouble': HookTrouble,
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
