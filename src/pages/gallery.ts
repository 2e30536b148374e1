import { ApiError } from '../runtime/errors.ts'
import { elementCode, frameCode } from './embed.ts'
import { html, type Html, pageHeaders, showPage } from './page.ts'
import { type Shown, stationPage, streamsOf } from './station-page.ts'
import type { WebFiles } from './web-files.ts'

/** All variants of the widget for a station, each with the code to copy. */
export const galleryRoute = (files: () => Promise<WebFiles>) =>
  stationPage('/widgets', files, shown => {
    const { station, baseUrl, apiKey } = shown
    // Code with a key in it is for nobody's website.
    if (apiKey !== '') throw new ApiError('not-found')
    const page = {
      title: `${station.name} on your website`,
      root: '../..' as const,
      styles: 'gallery-style.css',
      scripts: ['gallery.js'],
      body: html`<main class="gallery">
        <header class="gallery-head">
          <p dir="auto"><a href="../${station.shortcode}">${station.name}</a></p>
          <h1>On your website</h1>
          <p class="lead">
            One line shows what is playing, as it changes. No cookies, nothing from anybody else, and it takes
            the typeface of the page around it.
          </p>
        </header>
        ${variantsOf(shown).map(showVariant)}
      </main>`
    }
    const streams = streamsOf(shown)
    return showPage(page, shown.files, pageHeaders({ baseUrl, streams, hasFrames: true, isPrivate: false }))
  })

interface Variant {
  readonly name: string
  readonly about: string
  readonly code: string
  readonly preview: Html
  /** A darker ground below it. */
  readonly isOnDark?: boolean
}

function variantsOf({ station, baseUrl }: Shown): readonly Variant[] {
  const { shortcode: name } = station
  const code = (attributes: Readonly<Record<string, string>>) => elementCode(baseUrl, name, attributes)
  return [
    {
      name: 'Badge',
      about: 'One line, among words.',
      code: code({ size: 'badge' }),
      preview: html`<cuewire-now-playing station="${name}" size="badge"></cuewire-now-playing>`
    },
    {
      name: 'Card',
      about: 'The cover, the song, how far it is.',
      code: code({ size: 'card' }),
      preview: html`<cuewire-now-playing station="${name}" size="card"></cuewire-now-playing>`
    },
    {
      name: 'Card, dark',
      about: 'Without a theme it is as light or dark as the page; auto follows the visitor.',
      code: code({ size: 'card', theme: 'dark' }),
      preview: html`<cuewire-now-playing station="${name}" size="card" theme="dark"></cuewire-now-playing>`,
      isOnDark: true
    },
    {
      name: 'Full',
      about: 'A small player, with what comes next and what was before.',
      code: code({ size: 'full' }),
      preview: html`<cuewire-now-playing station="${name}" size="full"></cuewire-now-playing>`
    },
    {
      name: 'In your colours',
      about:
        'Custom properties set colours, corners, type and width; parts (frame, title, artist, art, bar, play) the rest.',
      code: `<style>
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
</style>
${code({ size: 'card' })}`,
      preview: html`<cuewire-now-playing
        class="coloured"
        station="${name}"
        size="card"
      ></cuewire-now-playing>`
    },
    {
      name: 'Frame',
      about:
        'For websites that allow no scripts. Sites that know oEmbed make it from the address of the player.',
      code: frameCode(station, { size: 'card', width: 384 }),
      preview: html`<iframe src="embed?size=card" width="384" height="100" title="${station.name}"></iframe>`
    }
  ]
}

const showVariant = ({ name, about, code, preview, isOnDark }: Variant) =>
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
