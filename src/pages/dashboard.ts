import type { Route } from '../api/core/route.ts'
import type { ApiServices } from '../api/core/services.ts'
import { renderStation, shownArtUrl } from '../station/now-playing.ts'
import type { StationState } from '../station/state.ts'
import { dataElement, html, type Html, pageHeaders, showPage } from './page.ts'
import type { WebFiles } from './web-files.ts'

/** Fewer stations stand in the page itself; of more, the page asks. */
const shownAtMost = 24

/** The first page: the public stations, and for operators the way to everything else. */
export const dashboardRoute = (getFiles: () => Promise<WebFiles>): Route<ApiServices> => ({
  method: 'GET',
  path: '/',
  access: 'public',
  handle: async (_, { live, config: { BASE_URL: baseUrl } }) => {
    const files = await getFiles()
    const stations = live.all().filter(({ profile }) => profile.isPublic)
    const isShort = stations.length <= shownAtMost
    const page = {
      title: 'Stations · Cuewire',
      root: '.' as const,
      styles: 'dashboard-style.css',
      scripts: ['dashboard.js'],
      head: isShort ? dataElement('shown', Buffer.from(live.publicList().body).toString()) : html``,
      body: html`<cuewire-dashboard
        >${firstSight(stations.slice(0, shownAtMost), baseUrl)}</cuewire-dashboard
      >`
    }
    return showPage(page, files, pageHeaders({ baseUrl, hasMadePictures: true, isPrivate: false }))
  }
})

/** What is seen before the script runs, and without it: as its first picture, as far as that goes. */
const firstSight = (stations: readonly StationState[], baseUrl: string): Html =>
  html`<header class="topbar"><a class="brand" href="./">Cuewire</a></header>
    <main class="view">
      <header class="overview">
        <h1 class="headline">Stations</h1>
        <p class="overview-text"></p>
      </header>
      <ul class="cards">
        ${stations.map(state => card(state, baseUrl))}
      </ul>
    </main>`

function card(state: StationState, baseUrl: string): Html {
  const { name, shortcode } = renderStation(state, baseUrl)
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
