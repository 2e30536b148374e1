import type { ShownSong, StationState } from '../../src/model/station/state.ts'
import { startBrowser } from '../support/browser.ts'
import { aMount, aPlay, aSong } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import { devices, openPictured, savePicture, sights } from '../support/pictures.ts'

/** The embedded page is shown in a frame of this size. */
const frame = { width: 384, height: 720 }

const song = (artist: string, title: string, album: string): ShownSong =>
  aSong({ artist, title, album, artId: Buffer.from(title).toString('hex').padEnd(24, '0').slice(0, 24) })

/** A station in the middle of a song, with a history and a next song. */
function aBusyStation(): Partial<StationState> {
  const startedAtMs = Date.now() - 97_000
  const earlier = [
    song('Mara Quist', 'Tidewater', 'Estuary'),
    song('The Low Signals', 'Night Ferry', 'Harbour Lights'),
    song('Ines Okafor', 'A Room Above the Sea', 'Rooms'),
    song('Sol Arden', 'Glass Hours', 'Glass Hours'),
    song('Halvorsen & Daughter', 'Pilot Boat', 'Salt')
  ]
  return {
    shown: aPlay({ startedAtMs, song: song('Nils Okada', 'Paper Lanterns', 'Low Water') }),
    history: earlier.map((each, index) =>
      aPlay({ shId: 4300 - index, startedAtMs: startedAtMs - (index + 1) * 231_000, song: each })
    ),
    next: {
      cuedAtMs: startedAtMs,
      playsAtMs: startedAtMs + 215_000,
      durationMs: 182_000,
      playlist: 'Daytime',
      isRequest: true,
      song: song('Wren Adeyemi', 'Slow Weather', 'Almanac')
    }
  }
}

test('screenshots of all pages', async ({ stage }) => {
  const profile = {
    name: 'Harbour FM',
    shortName: 'harbour_fm',
    url: 'https://harbour.example.com/',
    mounts: [
      aMount(1, { path: '/main.mp3', displayName: '', bitrate: 192 }),
      aMount(2, { path: '/low.mp3', displayName: '', bitrate: 64 })
    ]
  }
  await stage.put({ ...aBusyStation(), profile })
  await stage.put({
    ...aBusyStation(),
    profile: { ...profile, shortName: 'harbour_live' },
    shown: aPlay({
      startedAtMs: Date.now() - 754_000,
      durationMs: 0,
      song: song('Sol Arden', 'Evening, with the Windows Open', '')
    }),
    live: { streamerName: 'DJ Wren', startedAtMs: Date.now() - 754_000, art: '' }
  })
  const browser = await startBrowser()
  const paths = {
    player: 'harbour_fm',
    live: 'harbour_live',
    widgets: 'harbour_fm/widgets',
    embed: 'harbour_fm/embed?size=full',
    missing: 'nobody'
  }
  for (const sight of sights) {
    const page = await openPictured(browser, sight)
    for (const [name, path] of Object.entries(paths)) {
      await page.setViewportSize(name === 'embed' ? frame : devices[sight.device].viewport)
      const response = await page.goto(`${stage.baseUrl}/public/${path}`, { waitUntil: 'networkidle' })
      if (response?.ok() === (name === 'missing')) throw new Error(`${path} answers ${response?.status()}`)
      await savePicture(page, `${name}-${sight.device}-${sight.scheme}`)
    }
    await page.context().close()
  }
  await browser.close()
})
