import { ApiError } from '../platform/runtime/errors.ts'
import { html, type Html, renderPage } from './page.ts'
import { type StationPageData, stationPageRoute } from './station-page.ts'
import { renderFrameCode, renderWidgetCode, type WidgetSize } from './widget-code.ts'

/** The variants of the widget for a station, each with the code to copy. */
export const galleryRoute = stationPageRoute('/widgets', page => {
  const { station, isPrivate } = page
  // Code with a key must not be put on websites.
  if (isPrivate) throw new ApiError('not-found')
  return renderPage({
    ...page,
    title: `${station.name} on your website`,
    styles: 'gallery-style.css',
    scripts: ['gallery.js'],
    hasFrames: true,
    body: html`<main class="gallery">
      <header class="gallery-head">
        <p dir="auto"><a href="../${station.shortcode}">${station.name}</a></p>
        <h1>On your website</h1>
        <p class="lead">
          One line of code shows what is playing, in real time. No cookies, no third parties, and the font of
          your page.
        </p>
      </header>
      ${listVariants(page).map(renderVariant)}
    </main>`
  })
})

interface Variant {
  readonly name: string
  readonly about: string
  readonly code: string
  readonly preview: Html
  readonly isOnDark?: boolean
}

function listVariants({ station, baseUrl }: StationPageData): readonly Variant[] {
  const { shortcode: name } = station
  const widget = (size: WidgetSize) => ({
    code: renderWidgetCode(baseUrl, name, { size }),
    preview: html`<cuewire-now-playing station="${name}" size="${size}"></cuewire-now-playing>`
  })
  return [
    { name: 'Badge', about: 'One line, within text.', ...widget('badge') },
    { name: 'Card', about: 'The cover, the song and its progress.', ...widget('card') },
    {
      name: 'Card, dark',
      about: 'Without a theme, it uses the color scheme of the page; auto uses that of the visitor.',
      code: renderWidgetCode(baseUrl, name, { size: 'card', theme: 'dark' }),
      preview: html`<cuewire-now-playing station="${name}" size="card" theme="dark"></cuewire-now-playing>`,
      isOnDark: true
    },
    { name: 'Full', about: 'A small player with the next song and the history.', ...widget('full') },
    {
      name: 'In your colors',
      about:
        'Custom properties set colors, corners, font and width. Parts (frame, title, artist, art, bar, play) allow any style.',
      code: `${customStyle}\n${widget('card').code}`,
      preview: html`<cuewire-now-playing class="colored" station="${name}" size="card"></cuewire-now-playing>`
    },
    {
      name: 'Frame',
      about:
        'For websites that allow no scripts. Websites with oEmbed create it from the address of the player.',
      code: renderFrameCode(station, 'card', 384),
      preview: html`<iframe src="embed?size=card" width="384" height="100" title="${station.name}"></iframe>`
    }
  ]
}

/** The same as `.colored` in `web/gallery/gallery.css`. */
const customStyle = `<style>
  cuewire-now-playing {
    --cuewire-background: #17363c;
    --cuewire-text: #f6e7cd;
    --cuewire-soft: #b9c7bd;
    --cuewire-line: #2f5258;
    --cuewire-accent: #f08a5d;
    --cuewire-radius: 0;
  }
  cuewire-now-playing::part(title) {
    font-style: italic;
  }
</style>`

const renderVariant = ({ name, about, code, preview, isOnDark }: Variant) =>
  html`<section class="variant">
    <div class="variant-words">
      <h2>${name}</h2>
      <p>${about}</p>
    </div>
    <div class="stage${isOnDark === true ? ' stage-dark' : ''}">${preview}</div>
    <div class="code">
      <pre tabindex="0" aria-label="Code of ${name}"><code>${code}</code></pre>
      <button type="button" class="copy">Copy</button>
    </div>
  </section>`
