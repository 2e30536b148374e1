import type { DashboardFeature } from './api/permissions.ts'
import type { InstallationSection, StationSection } from './ui/route.ts'

/** A section of the dashboard. */
export interface DashboardView<Section = string> {
  readonly section: Section
  readonly title: string
  /** The page is shown if the key allows one of these. Empty: every key does. */
  readonly features: readonly DashboardFeature[]
  /** The custom element of the page, which `load` defines. */
  readonly element: string
  /** Loads the module of the page; absent for pages that are part of the first page. */
  readonly load?: () => Promise<unknown>
  /** Whether the page renders its own heading. */
  readonly hasOwnHeading?: boolean
}

const loadResources = () => import('./resources/resource-pages.ts')

/** The views of the installation, in the order of the navigation. Others are not found. */
export const installationViews: readonly DashboardView<InstallationSection>[] = [
  { section: 'stations', title: 'Stations', features: [], element: 'stations-view', hasOwnHeading: true },
  { section: 'keys', title: 'API keys', features: ['viewKeys'], element: 'keys-page', load: loadResources },
  {
    section: 'storage',
    title: 'Storage',
    features: ['viewStorage'],
    element: 'storage-page',
    load: loadResources
  },
  {
    section: 'fields',
    title: 'Custom fields',
    features: ['viewFields'],
    element: 'fields-page',
    load: loadResources
  },
  { section: 'news', title: 'News', features: [], element: 'news-page', load: loadResources },
  {
    section: 'people',
    title: 'People',
    features: ['managePeople'],
    element: 'people-page',
    load: () => import('./people/people-page.ts')
  },
  {
    section: 'audit',
    title: 'Audit log',
    features: ['viewAudit'],
    element: 'audit-page',
    load: () => import('./reports/audit-page.ts')
  },
  {
    section: 'system',
    title: 'System',
    features: ['viewInstallation', 'viewStorage'],
    element: 'system-page',
    load: () => import('./installation/system-page.ts')
  },
  {
    section: 'start',
    title: 'First steps',
    features: ['manageStations'],
    element: 'start-page',
    load: () => import('./start/start-page.ts')
  },
  {
    section: 'account',
    title: 'Account',
    features: [],
    element: 'account-page',
    load: () => import('./account/account-page.ts')
  }
]

/** The page on which an invited person joins. */
export const joinView: DashboardView = {
  section: 'join',
  title: 'Join',
  features: [],
  element: 'join-page',
  load: () => import('./account/join-page.ts')
}

/** The views of a station, in the order of the tabs. Others are not found. */
export const stationViews: readonly DashboardView<StationSection>[] = [
  {
    section: 'now',
    title: 'Now',
    features: [],
    element: 'now-page',
    load: () => import('./station/now-page.ts')
  },
  {
    section: 'media',
    title: 'Media',
    features: ['viewMedia'],
    element: 'media-page',
    load: () => import('./media/media-page.ts')
  },
  {
    section: 'playlists',
    title: 'Playlists',
    features: ['viewQueue'],
    element: 'playlists-page',
    load: () => import('./playlists/playlists-page.ts')
  },
  {
    section: 'schedule',
    title: 'Schedule',
    features: ['viewQueue'],
    element: 'schedule-page',
    load: () => import('./schedule/schedule-page.ts')
  },
  {
    section: 'queue',
    title: 'Queue',
    features: ['viewQueue'],
    element: 'queue-page',
    load: () => import('./queue/queue-page.ts')
  },
  {
    section: 'reports',
    title: 'Reports',
    features: ['viewReports'],
    element: 'reports-page',
    load: () => import('./reports/reports-page.ts')
  },
  {
    section: 'streamers',
    title: 'Live shows',
    features: ['viewStreamers', 'viewReports'],
    element: 'streamers-page',
    load: () => import('./station/streamers-page.ts')
  },
  {
    section: 'hooks',
    title: 'Web hooks',
    features: ['viewHooks'],
    element: 'hooks-page',
    load: () => import('./web-hooks/hooks-page.ts')
  },
  {
    section: 'mounts',
    title: 'Mounts',
    features: ['viewQueue'],
    element: 'mounts-page',
    load: loadResources
  },
  {
    section: 'remotes',
    title: 'Relays',
    features: ['viewRemotes'],
    element: 'remotes-page',
    load: loadResources
  },
  { section: 'sftp', title: 'SFTP', features: ['viewMedia'], element: 'sftp-page', load: loadResources },
  {
    section: 'settings',
    title: 'Settings',
    features: ['viewStations', 'viewProfile'],
    element: 'settings-page',
    load: () => import('./resources/settings-page.ts')
  }
]
