import { readdirSync, readFileSync } from 'node:fs'

import { parse } from 'yaml'

const folder = new URL('../../ops/', import.meta.url)

/** A panel of a dashboard, with its place in the grid of Grafana. */
export interface DashboardPanel {
  readonly title: string
  readonly type: string
  readonly unit: string
  readonly place: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[]
}

export interface Dashboard {
  /** Of the file, without its ending. */
  readonly name: string
  readonly title: string
  readonly panels: readonly DashboardPanel[]
}

interface DashboardFile {
  readonly title: string
  readonly panels: readonly (Pick<DashboardPanel, 'title' | 'type' | 'targets'> & {
    readonly gridPos: DashboardPanel['place']
    readonly fieldConfig: { readonly defaults: { readonly unit: string } }
  })[]
}

/** Returns the dashboards in `ops/grafana`. */
export function readDashboards(): Dashboard[] {
  const files = readdirSync(new URL('grafana/', folder)).filter(name => name.endsWith('.json'))
  return files.map(file => {
    const { title, panels }: DashboardFile = JSON.parse(
      readFileSync(new URL(`grafana/${file}`, folder), 'utf8')
    )
    return {
      name: file.replace('.json', ''),
      title,
      panels: panels.map(({ gridPos: place, fieldConfig, ...panel }) => ({
        ...panel,
        place,
        unit: fieldConfig.defaults.unit
      }))
    }
  })
}

/** An alert of `ops/prometheus/alerts.yml`. */
export interface AlertRule {
  readonly alert: string
  readonly expr: string
  readonly for: string
}

export const alertsFile = new URL('prometheus/alerts.yml', folder)

export function readAlerts(): AlertRule[] {
  const { groups }: { groups: { rules: AlertRule[] }[] } = parse(readFileSync(alertsFile, 'utf8'))
  return groups.flatMap(({ rules }) => rules)
}
