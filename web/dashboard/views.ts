import type { Feature } from './api/permissions.ts'
import type { InstallationSection, StationSection } from './ui/route.ts'

/** A section of the dashboard. */
export interface View<Section = string> {
  readonly section: Section
  readonly title: string
  /** The page is shown if the key allows one of these. Empty: every key does. */
  readonly features: readonly Feature[]
  /** The custom element of the page, which `load` defines. */
  readonly element: string
  /** Loads the module of the page; absent for pages that are part of the first page. */
  readonly load?: () => Promise<unknown>
  /** Whether the page renders its own heading. */
  readonly hasOwnHeading?: boolean
}

/** The views of the installation, in the order of the navigation. Others are not found. */
export const installationViews: readonly View<InstallationSection>[] = [
  { section: 'stations', title: 'Stations', features: [], element: 'stations-view', hasOwnHeading: true },
  {
    section: 'system',
    title: 'System',
    features: [],
    element: 'system-page',
    load: () => import('./installation/system-page.ts')
  }
]

/** The views of a station, in the order of the tabs. Others are not found. */
export const stationViews: readonly View<StationSection>[] = [
  {
    section: 'now',
    title: 'Now',
    features: [],
    element: 'now-page',
    load: () => import('./station/now-page.ts')
  },
  {
    section: 'schedule',
    title: 'Schedule',
    features: ['viewQueue'],
    element: 'schedule-page',
    load: () => import('./schedule/schedule-page.ts')
  },
  {
    section: 'hooks',
    title: 'Web hooks',
    features: ['viewHooks'],
    element: 'hooks-page',
    load: () => import('./web-hooks/hooks-page.ts')
  },
  {
    section: 'streamers',
    title: 'Live shows',
    features: ['viewStreamers', 'viewReports'],
    element: 'streamers-page',
    load: () => import('./station/streamers-page.ts')
  }
]
