import type { DocumentKind, LiveView } from '../../model/station/live-view.ts'
import type { StationRenderer } from '../../model/station/renderer.ts'
import type { Feed } from './feed.ts'
import { engineTimeSeconds, type LiveStation } from './live-station.ts'
import { maxStationsRenderedAtOnce } from './station-catalogue.ts'

/**
 * The feed for the REST handlers, with the documents of the default renderer. They are rendered from the newest state,
 * for the current second.
 */
export function openFeedView(feed: Feed): LiveView {
  const [own] = feed.renderers
  const views = new Map(feed.renderers.map(renderer => [renderer.name, openView(renderer)]))

  function viewNamed(name: string): LiveView {
    const view = views.get(name)
    if (view === undefined) throw new Error(`no renderer is named ${name}`)
    return view
  }

  function find(idOrName: string | number) {
    return typeof idOrName === 'number' ? feed.get(idOrName) : feed.find(idOrName)
  }

  function openView(renderer: StationRenderer): LiveView {
    const render = (station: LiveStation, kind: DocumentKind) =>
      kind === 'line' ? station.line() : station.document(kind, engineTimeSeconds(), renderer)
    const list = (stationIds: readonly number[]) =>
      feed.list(
        stationIds.flatMap(stationId => feed.get(stationId) ?? []),
        engineTimeSeconds(),
        renderer
      )
    return {
      renderedBy: viewNamed,
      find,
      findState: idOrName => find(idOrName)?.state,
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
        if (renderer === own) return feed.publicList(engineTimeSeconds())
        return feed.health().stations > maxStationsRenderedAtOnce ? null : list(feed.publicIds())
      },
      longList: (privateIds, onEvicted) => feed.longList(privateIds, onEvicted, renderer),
      list,
      onChange: listener => feed.onChange(station => listener(station)),
      catchUp: feed.catchUp,
      health: () => {
        const { checkedAtMs, stations, isNodeRefusing } = feed.health()
        return { isCurrent: feed.isCurrent(), isNodeRefusing, checkedAtMs, stations }
      }
    }
  }

  return viewNamed(own.name)
}
