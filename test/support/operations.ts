import { readdirSync, readFileSync } from 'node:fs'

import { parse } from 'yaml'

const folder = new URL('../../ops/', import.meta.url)

/** A query of a panel. */
export interface PanelQuery {
  readonly dashboard: string
  readonly panel: string
  readonly expr: string
}

/** Returns the queries of all panels of the dashboards in `ops/grafana`. */
export function readPanelQueries(): PanelQuery[] {
  const files = readdirSync(new URL('grafana/', folder)).filter(name => name.endsWith('.json'))
  return files.flatMap(file => {
    const dashboard: {
      panels: { title: string; targets: { expr: string }[] }[]
    } = JSON.parse(readFileSync(new URL(`grafana/${file}`, folder), 'utf8'))
    return dashboard.panels.flatMap(({ title, targets }) =>
      targets.map(({ expr }) => ({ dashboard: file, panel: title, expr }))
    )
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
