import type { Page } from 'playwright-core'
import { expect } from 'vitest'

import { isolatedTest as test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { startPlaying } from '../support/playing.ts'
import { adminKey, type Program } from '../support/program.ts'

const files = 50_000

/** Adds files in folders of 20. */
async function addFiles(program: Program, stationId: number): Promise<void> {
  await program.sql`
    insert into media (station_id, unique_id, song_id, path, title, artist, album, genre, duration_ms, size_bytes, modified_ms)
    select ${stationId}, md5('u' || n)::text, md5('s' || n), 'Album ' || n / 20 || '/Song ' || n || '.mp3',
      'Song ' || n, 'Artist ' || n % 700, 'Album ' || n / 20, 'Rock', 200000 + n, 5000000 + n, 1700000000000 + n
    from generate_series(1, ${files}) n`
  await program.sql`analyze media`
}

/** Milliseconds from an action in the page until a row with a text is painted. */
const measure = (page: Page, action: string, text: string) =>
  page.evaluate<number>(`new Promise(resolve => {
    const startedMs = performance.now()
    const check = () => {
      const rows = [...document.querySelectorAll('.media-row .media-title')]
      if (rows.some(row => row.textContent.includes(${JSON.stringify(text)})))
        requestAnimationFrame(() => resolve(Math.round(performance.now() - startedMs)))
      else setTimeout(check, 2)
    }
    ${action}
    check()
  })`)

test.skipIf(whyWithout('chromium') !== null)(
  '50,000 files are shown in 500 ms, found in 200 ms and scrolled without tasks of 50 ms',
  async ({ program, openPage }) => {
    const page = await openPage({ viewport: { width: 1280, height: 900 } })
    const { id, document } = await startPlaying(program, { tracks: 1 })
    await addFiles(program, id)
    const name: string = document.station.shortcode
    await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'
      window.longest = 0
      new PerformanceObserver(list => {
        for (const entry of list.getEntries()) window.longest = Math.max(window.longest, entry.duration)
      }).observe({ type: 'longtask' })`)
    await page.goto(`${program.baseUrl}/#/station/${name}`)
    await page.getByRole('link', { name: 'Media' }).waitFor()
    const openMs = await measure(page, `location.hash = '#/station/${name}/media'`, 'Album 0')
    const flatMs = await measure(
      page,
      `document.querySelector('.media-filters [type=checkbox]').click()`,
      'Song 1'
    )
    const search = (text: string) => `{
      const input = document.querySelector('[type=search]')
      input.value = ${JSON.stringify(text)}
      input.dispatchEvent(new InputEvent('input', { bubbles: true }))
    }`
    const searchMs: number[] = []
    for (const text of ['Song 49999', 'Song 31234', 'Song 7777'])
      searchMs.push(await measure(page, search(text), text))
    await measure(page, search(''), 'Song 10')
    const longestMs = await page.evaluate<number>(`new Promise(resolve => {
      window.longest = 0
      const list = document.querySelector('.media-scroll')
      let frames = 0
      const step = () => {
        list.scrollTop += frames < 200 ? 150 : 9_000
        frames += 1
        if (frames < 400) requestAnimationFrame(step)
        else setTimeout(() => resolve(window.longest), 500)
      }
      requestAnimationFrame(step)
    })`)
    // oxlint-disable-next-line no-console -- The numbers are the result.
    console.log({ openMs, flatMs, searchMs, longestMs })
    expect(openMs).toBeLessThan(500)
    expect(Math.min(...searchMs)).toBeLessThan(200)
    expect(longestMs).toBeLessThan(50)
  },
  180_000
)
