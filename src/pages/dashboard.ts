import { renderStationObject, shownArtUrl } from '../model/station/now-playing.ts'
import type { StationState } from '../model/station/state.ts'
import { jsonScript, html, type Html, pageRoute, renderPage, siteName } from './page.ts'

/** The number of stations up to which the page contains their documents. Otherwise its script loads them. */
const maxEmbedded = 24

/**
 * The first page: the public stations, and the dashboard for operators. If the settings redirect visitors to another
 * website, operators open it with `?dashboard`.
 */
export const dashboardRoute = pageRoute(
  '/',
  async ({ query }, { live, settings: reader, config: { BASE_URL: baseUrl } }) => {
    const settings = await reader.read()
    const { homepage_redirect_url: target } = settings
    if (target !== '' && !query.has('dashboard'))
      return { status: 302, headers: { Location: target, 'Cache-Control': 'no-cache' } }
    const stations = live.all().filter(({ isPublic }) => isPublic)
    const embedded = stations.length <= maxEmbedded ? live.publicList() : null
    return renderPage({
      baseUrl,
      title: `Stations · ${siteName(settings)}`,
      settings,
      root: '.',
      styles: 'dashboard-style.css',
      scripts: ['dashboard.js'],
      hasBlobs: true,
      isPrivate: false,
      head: embedded === null ? html`` : jsonScript('shown', Buffer.from(embedded.body).toString()),
      body: html`<cuewire-dashboard
        >${renderOverview(
          stations.slice(0, maxEmbedded).map(station => station.read()),
          baseUrl
        )}</cuewire-dashboard
      >`
    })
  }
)

/** What the page shows before its script runs, and without scripts. The script renders the same. */
const renderOverview = (stations: readonly StationState[], baseUrl: string): Html =>
  html`<header class="topbar"><a class="brand" href="./">Cuewire</a></header>
    <main class="view">
      <header class="overview">
        <h1 class="headline">Stations</h1>
        <p class="overview-text"></p>
      </header>
      <ul class="cards">
        ${stations.map(state => renderCard(state, baseUrl))}
      </ul>
    </main>`

function renderCard(state: StationState, baseUrl: string): Html {
  const { name, shortcode } = renderStationObject(state, baseUrl)
  const { title, artist } = state.shown?.song ?? { title: state.profile.offlineText, artist: '' }
  return html`<li>
    <article class="card">
      <div class="cover"><img alt="" src="${shownArtUrl(state, baseUrl)}" /></div>
      <div class="card-text">
        <h2 class="card-station"><a href="public/${encodeURIComponent(shortcode)}">${name}</a></h2>
        <p class="state-line"></p>
        <p class="card-title">${title}</p>
        <p class="card-artist">${artist}</p>
        <div class="progress"></div>
      </div>
    </article>
  </li>`
}
