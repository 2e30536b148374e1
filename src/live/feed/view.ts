import type { Dialect } from '../../model/station/dialect.ts'
import type { DocumentKind, LiveView } from '../../model/station/live-view.ts'
import { maxRenderedAtOnce } from './catalogue.ts'
import type { Feed } from './feed.ts'
import { engineSeconds, type LiveStation } from './live-station.ts'

/**
 * The feed for the REST handlers, in the dialect of the installation. Documents are rendered from the newest
 * state, for the current second.
 */
export function viewOf(feed: Feed): LiveView {
  const views = { documented: openView('documented'), azuracast: openView('azuracast') }

  function openView(dialect: Dialect): LiveView {
    const isOwn = dialect === feed.dialect
    const render = (station: LiveStation, kind: DocumentKind) =>
      kind === 'line' ? station.line() : station.document(kind, engineSeconds(), dialect)
    const list = (stationIds: readonly number[]) =>
      feed.list(
        stationIds.flatMap(stationId => feed.get(stationId) ?? []),
        engineSeconds(),
        dialect
      )
    return {
      inDialect: other => views[other],
      get: idOrName => feed.find(idOrName)?.state,
      find: feed.find,
      all: feed.all,
      document: (stationId, kind) => {
        const station = feed.get(stationId)
        return station && render(station, kind)
      },
      publicDocument: (idOrName, kind) => {
        const station = feed.find(idOrName)
        return station?.isPublic ? render(station, kind) : undefined
      },
      publicIds: feed.publicIds,
      publicList: () => {
        if (isOwn) return feed.publicList(engineSeconds())
        return feed.health().stations > maxRenderedAtOnce ? null : list(feed.publicIds())
      },
      longList: (privateIds, onEvicted) => feed.longList(privateIds, onEvicted, dialect),
      list,
      onChange: listener => feed.onChange(station => listener(station)),
      catchUp: feed.catchUp,
      health: () => {
        const { checkedAtMs, stations, isNodeRefusing } = feed.health()
        return { isCurrent: feed.isCurrent(), isNodeRefusing, checkedAtMs, stations }
      }
    }
  }

  return views[feed.dialect]
}
