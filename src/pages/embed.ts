import { html } from './html.ts'
import { showPage } from './page.ts'
import { pageHeaders } from './policy.ts'
import { stationPage, streamsOf } from './station-page.ts'
import type { WebFiles } from './web-files.ts'
import { isWidgetSize, themes } from './widget-code.ts'

/** The widget as a page of its own, to be shown in frames: `?size=badge`, `card` or `full`, `?theme=light`, `dark` or `auto`. */
export const embedRoute = (files: () => Promise<WebFiles>) =>
  stationPage('/embed', files, shown => {
    const { station, query, apiKey, baseUrl } = shown
    const size = query.get('size') ?? ''
    const theme = themes.find(each => each === query.get('theme')) ?? 'auto'
    const page = {
      title: station.name,
      root: '../..' as const,
      styles: 'embed.css',
      scripts: ['widget.js'],
      head: html`<meta name="robots" content="noindex" />`,
      body: html`<main>
        <h1 class="only-heard">${station.name}</h1>
        <cuewire-now-playing
          station="${station.id}"
          size="${isWidgetSize(size) ? size : 'card'}"
          theme="${theme}"
          api-key="${apiKey}"
        ></cuewire-now-playing>
      </main>`
    }
    const streams = streamsOf(shown)
    return showPage(
      page,
      shown.files,
      pageHeaders({ baseUrl, streams, isFramed: true, isPrivate: apiKey !== '' })
    )
  })
