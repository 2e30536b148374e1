import { engineTimeMs } from '../runtime/engine-time.ts'
import { renderLine, shownArtUrl } from '../station/now-playing.ts'
import { isOnline, type StationState } from '../station/state.ts'
import { dataElement, html, type Html, pageHeaders, showPage } from './page.ts'
import { keyQuery, type Shown, stationPage, streamsOf } from './station-page.ts'
import type { WebFiles } from './web-files.ts'

/** The player page: what a station plays, and its sound. */
export const playerRoute = (files: () => Promise<WebFiles>) =>
  stationPage('', files, shown => {
    const { state, station, files: made, baseUrl, apiKey } = shown
    const page = {
      title: `${renderLine(state)} · ${station.name}`,
      root: '..' as const,
      styles: 'player-style.css',
      scripts: ['player.js'],
      head: html`${cards(shown)} ${dataElement('shown', knownJson(shown))}`,
      body: html`<cuewire-player>${firstSight(shown)}</cuewire-player>`
    }
    const isPrivate = apiKey !== ''
    return showPage(page, made, pageHeaders({ baseUrl, streams: streamsOf(shown), isPrivate }))
  })

/** What the page begins with, so that it is true before anything is asked for. */
function knownJson({ state, document }: Shown): string {
  const { epoch, offset } = state
  const position = document.position ?? { epoch, offset }
  const rest = JSON.stringify({ ...position, timeMs: engineTimeMs(), station: state.stationId })
  return `{"np":${Buffer.from(document.body).toString()},${rest.slice(1)}`
}

/** What others show who link to this page: Open Graph, and where oEmbed is to be had. */
function cards({ state, station, baseUrl, apiKey }: Shown): Html {
  if (apiKey !== '') return html`<meta name="robots" content="noindex" />`
  const url = station.public_player_url
  const line = renderLine(state)
  const about = [line === station.name ? '' : `Now playing: ${line}`, station.description]
  const oembed = `${baseUrl}/oembed?${new URLSearchParams({ url }).toString()}`
  const properties = {
    'og:type': 'music.radio_station',
    'og:site_name': 'Cuewire',
    'og:title': station.name,
    'og:description': about.filter(text => text !== '').join('. '),
    'og:url': url,
    'og:image': shownArtUrl(state, baseUrl),
    'og:image:alt': 'The cover of what is playing',
    'og:audio': station.listen_url
  }
  const metas = Object.entries(properties).flatMap(([name, content]) =>
    content === '' ? [] : [html`<meta property="${name}" content="${content}" />`]
  )
  return html`<meta name="description" content="${station.description || `Listen to ${station.name}`}" />
    <meta name="twitter:card" content="summary" />
    <link rel="canonical" href="${url}" />
    <link rel="alternate" type="application/json+oembed" href="${oembed}" title="${station.name}" />
    ${metas}`
}

/**
 * What is seen before the script runs, and without it: the same as its first picture, as far as that goes.
 */
function firstSight(shown: Shown): Html {
  const { state, station, baseUrl } = shown
  const { title, artist, album } = state.shown?.song ?? { title: '', artist: '', album: '' }
  const query = keyQuery(shown)
  const cover = shownArtUrl(state, baseUrl)
  return html`<header class="masthead">
      <h1 class="station" dir="auto">${station.name}</h1>
      <p class="description" dir="auto">${station.description}</p>
    </header>
    <main class="now" data-air="${isOnline(state) ? 'on' : 'off'}">
      <div class="cover">
        <img alt="" src="${cover.startsWith(`${baseUrl}/api/station/`) ? cover + query : cover}" />
      </div>
      <div class="song">
        ${eyebrow(state)}
        <h2 class="title" dir="auto">${title || state.profile.offlineText}</h2>
        <p class="artist" dir="auto">${artist}</p>
        <p class="album" dir="auto">${album}</p>
        <noscript>
          <p><a href="${state.profile.shortName}/playlist.m3u${query}">Listen</a></p>
        </noscript>
      </div>
    </main>`
}

/** What is said above the song: see `web/elements/status-line.ts`. */
function eyebrow(state: StationState): Html {
  if (!isOnline(state)) return saying('quiet', 'Off the air')
  if (state.live === null) return saying('plain', 'Now playing')
  return saying('live', state.live.streamerName || 'Live')
}

const saying = (kind: string, text: string) =>
  html`<p class="eyebrow" data-kind="${kind}"><span class="eyebrow-text" dir="auto">${text}</span></p>`
