import { renderCredentialQuery } from '../api/auth/credential-links.ts'
import { customAssetPath } from '../api/library/custom-asset-rows.ts'
import { renderSongLine, shownArtUrl } from '../model/station/now-playing.ts'
import { isStationOnline, type StationState } from '../model/station/state.ts'
import { engineTimeMs } from '../platform/runtime/engine-time.ts'
import { jsonScript, html, type Html, renderPage, siteName } from './page.ts'
import { type StationPageData, stationPageRoute } from './station-page.ts'

/** The player page of a station. */
export const playerRoute = stationPageRoute('', page =>
  renderPage({
    ...page,
    title: `${renderSongLine(page.state)} · ${page.station.name}`,
    styles: 'player-style.css',
    scripts: ['player.js'],
    head: html`${renderMetadata(page)} ${linkBackground(page)} ${jsonScript('shown', renderKnown(page))}`,
    body: html`<cuewire-player>${renderPlayer(page)}</cuewire-player>`
  })
)

/** The document with which the client starts: `Known` of `web/client/interface.ts`, and the station's id. */
function renderKnown({ state, document }: StationPageData): string {
  const { epoch, offset } = state
  const position = document.position ?? { epoch, offset }
  const rest = JSON.stringify({ ...position, timeMs: engineTimeMs(), station: state.stationId })
  return `{"np":${Buffer.from(document.body).toString()},${rest.slice(1)}`
}

/** The background picture of the settings. */
function linkBackground({ root, settings }: StationPageData): Html | null {
  const { background: hash } = settings.assets
  if (hash === undefined) return null
  return html`<link rel="stylesheet" href="${root + customAssetPath('background', hash)}.css" />`
}

/** Metadata for link previews: Open Graph and the address of the oEmbed endpoint. */
function renderMetadata({ state, station, streams, baseUrl, isPrivate, settings }: StationPageData): Html {
  if (isPrivate) return html`<meta name="robots" content="noindex" />`
  const url = station.public_player_url
  const line = renderSongLine(state)
  const about = [line === station.name ? '' : `Now playing: ${line}`, station.description]
  const oembed = `${baseUrl}/oembed?${new URLSearchParams({ url }).toString()}`
  const properties = {
    'og:type': 'music.radio_station',
    'og:site_name': siteName(settings),
    'og:title': station.name,
    'og:description': about.filter(text => text !== '').join('. '),
    'og:url': url,
    'og:image': shownArtUrl(state, baseUrl),
    'og:image:alt': 'The cover of the current song',
    'og:audio': station.listen_url
  }
  const metas = Object.entries(properties).flatMap(([name, content]) =>
    content === '' ? [] : [html`<meta property="${name}" content="${content}" />`]
  )
  return html`<meta
      name="description"
      content="${station.description || (streams.length === 0 ? station.name : `Listen to ${station.name}`)}"
    />
    <meta name="twitter:card" content="summary" />
    <link rel="canonical" href="${url}" />
    <link rel="alternate" type="application/json+oembed" href="${oembed}" title="${station.name}" />
    ${metas}`
}

/** What the page shows before its script runs, and without scripts. The script renders the same. */
function renderPlayer({ state, station, streams, baseUrl, apiKey }: StationPageData): Html {
  const { title, artist, album } = state.shown?.song ?? { title: '', artist: '', album: '' }
  const query = renderCredentialQuery(apiKey)
  const cover = shownArtUrl(state, baseUrl)
  return html`<header class="masthead">
      <h1 class="station" dir="auto">${station.name}</h1>
      <p class="description" dir="auto">${station.description}</p>
    </header>
    <main class="now" data-air="${isStationOnline(state) ? 'on' : 'off'}">
      <div class="cover">
        <img alt="" src="${cover.startsWith(`${baseUrl}/api/station/`) ? cover + query : cover}" />
      </div>
      <div class="song">
        ${renderStatus(state)}
        <h2 class="title" dir="auto">${title || state.profile.offlineText}</h2>
        <p class="artist" dir="auto">${artist}</p>
        <p class="album" dir="auto">${album}</p>
        ${
          streams.length === 0
            ? null
            : html`<noscript>
                <p><a href="${state.profile.shortName}/playlist.m3u${query}">Listen</a></p>
              </noscript>`
        }
      </div>
    </main>`
}

/** The status line, with the texts of `web/elements/status-line.ts`. */
function renderStatus(state: StationState): Html {
  const [kind, text] = !isStationOnline(state)
    ? ['quiet', 'Off the air']
    : state.live === null
      ? ['plain', 'Now playing']
      : ['live', state.live.streamerName || 'Live']
  return html`<p class="eyebrow" data-kind="${kind}"><span class="eyebrow-text" dir="auto">${text}</span></p>`
}
