import type { Page, Route } from 'playwright-core'
import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { axeFindings } from '../support/open-page.ts'
import { startPlaying } from '../support/playing.ts'
import { adminKey, type Program } from '../support/program.ts'

const total = 50_000

/** A row of a library of 50,000 files. */
function rowAt(index: number, name = 'Song') {
  const title = `${name} ${index}`
  const path = `${title}.mp3`
  const media = {
    id: index + 1,
    unique_id: index.toString(16).padStart(24, '0'),
    title,
    artist: `Artist ${index % 700}`,
    album: `Album ${Math.floor(index / 20)}`,
    genre: 'Rock',
    length: 180 + (index % 200),
    playlists: []
  }
  return {
    path,
    path_short: `${title}.mp3`,
    text: title,
    type: 'media',
    timestamp: 1_700_000_000,
    size: 5e6,
    media
  }
}

/** Answers the list of files from memory. Returns the addresses that were requested. */
async function mockList(page: Page): Promise<URL[]> {
  const requested: URL[] = []
  await page.route('**/files/list?*', async (route: Route) => {
    const url = new URL(route.request().url())
    requested.push(url)
    const number = (name: string) => Number(url.searchParams.get(name))
    const search = url.searchParams.get('searchPhrase') ?? ''
    const [current, rowCount] = [number('current'), number('rowCount')]
    const found = search === '' ? total : 3
    const first = (current - 1) * rowCount
    const count = Math.max(0, Math.min(rowCount, found - first))
    const rows = Array.from({ length: count }, (_, offset) => rowAt(first + offset, search || 'Song'))
    await route.fulfill({ json: { page: current, per_page: rowCount, total: found, rows } })
  })
  return requested
}

async function openMedia(page: Page, program: Program) {
  page.setDefaultTimeout(8_000)
  const station = await startPlaying(program, { tracks: 1 })
  const name: string = station.document.station.shortcode
  await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'`)
  await page.goto(`${program.baseUrl}/#/station/${name}/media`)
  return station
}

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** The CPU time, in microseconds. */
  readonly tdur?: number
  readonly args?: { readonly name?: string }
}

/**
 * Returns the CPU time of the longest task of the page meanwhile, in milliseconds. The time of `longtask` entries grows
 * when other programs have the cores.
 */
async function measureLongestTask(page: Page, work: () => Promise<unknown>): Promise<number> {
  const browser = page.context().browser()
  if (browser === null) throw new Error('the page has no browser')
  await browser.startTracing(page, { categories: ['disabled-by-default-devtools.timeline'] })
  await work()
  const trace: { traceEvents: TraceEvent[] } = JSON.parse((await browser.stopTracing()).toString())
  const keyOf = ({ pid, tid }: TraceEvent) => `${pid} ${tid}`
  const mains = trace.traceEvents.filter(
    ({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain'
  )
  const threads = new Set(mains.map(keyOf))
  const tasks = trace.traceEvents.filter(each => each.name === 'RunTask' && threads.has(keyOf(each)))
  expect(tasks.length).toBeGreaterThan(100)
  return Math.max(...tasks.map(({ tdur = Infinity }) => tdur)) / 1_000
}

const selectedCount = (page: Page) => page.locator('.media-selection [role=status]')

describe.skipIf(whyWithout('chromium') !== null)('the list of 50,000 files', () => {
  test('renders only what is visible, scrolls without long tasks, and finds files', async ({
    program,
    openPage
  }) => {
    const page = await openPage({ viewport: { width: 1280, height: 900 } })
    const requested = await mockList(page)
    await openMedia(page, program)
    const grid = page.getByRole('grid', { name: 'Media' })
    await grid.getByText('Song 0', { exact: true }).waitFor()
    expect(await grid.getAttribute('aria-rowcount')).toBe(String(total + 1))
    expect(await page.locator('.media-row').count()).toBeLessThan(60)
    expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])

    const longestMs = await measureLongestTask(page, () =>
      page.evaluate(`new Promise(resolve => {
        const list = document.querySelector('.media-scroll')
        let frames = 0
        const step = () => {
          list.scrollTop += frames < 30 ? 150 : 15_000
          frames += 1
          if (frames < 60) requestAnimationFrame(step)
          else setTimeout(resolve, 300)
        }
        requestAnimationFrame(step)
      })`)
    )
    expect(longestMs).toBeLessThan(50)
    // Pages that were scrolled past are not loaded.
    expect(requested.length).toBeLessThan(30)
    await page.locator('.media-scroll').evaluate(list => (list.scrollTop = list.scrollHeight))
    await grid.getByText('Song 49999', { exact: true }).waitFor()

    await page.getByRole('searchbox', { name: 'Search' }).pressSequentially('Ferry', { delay: 10 })
    await grid.getByText('Ferry 2', { exact: true }).waitFor()
    expect(requested.filter(url => url.searchParams.get('searchPhrase') !== '').length).toBeLessThan(4)
  }, 120_000)

  test('is used with fingers', async ({ program, openPage }) => {
    const page = await openPage({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true })
    await mockList(page)
    await openMedia(page, program)
    for (const name of ['Song 0', 'Song 2'])
      await page.getByRole('checkbox', { name: `Select ${name}`, exact: true }).tap()
    await selectedCount(page).filter({ hasText: '2 selected' }).waitFor()
    await page.getByRole('button', { name: 'Move…' }).waitFor()
    expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    await page.getByRole('checkbox', { name: 'Select Song 0', exact: true }).tap()
    await selectedCount(page).filter({ hasText: '1 selected' }).waitFor()
  }, 60_000)

  test('a folder of any size is renamed, also after an interruption, and deleted', async ({
    program,
    openPage
  }) => {
    const page = await openPage({ viewport: { width: 1280, height: 900 } })
    const { id } = await openMedia(page, program)
    await program.sql`
      insert into media (station_id, unique_id, song_id, path, title)
      select ${id}, md5(${id} || 'u' || n), md5(n::text), 'big/' || n || '.mp3', 'Title'
      from generate_series(10001, 10601) n`
    const count = async (folder: string) => {
      const [row] = await program.sql<{ count: number }[]>`
        select count(*)::integer as count from media where station_id = ${id} and starts_with(path, ${`${folder}/`})`
      return row?.count
    }
    await page.reload()
    let requests = 0
    await page.route('**/files/rename', route => {
      requests += 1
      return requests === 2 ? route.abort() : route.continue()
    })
    const row = (name: string) => page.locator('.media-row').filter({ hasText: name })
    await row('big').focus()
    await page.keyboard.press('F2')
    await page.getByLabel('New name').fill('large')
    await page.keyboard.press('Enter')
    await page.getByText('The server cannot be reached.').waitFor({ timeout: 30_000 })
    expect([await count('big'), await count('large')]).toEqual([101, 500])
    await page.getByRole('button', { name: 'Rename', exact: true }).click()
    await page.getByRole('button', { name: 'Move the songs' }).click()
    await page.getByText('Renamed to large.').waitFor({ timeout: 30_000 })
    expect([await count('big'), await count('large')]).toEqual([0, 601])
    await row('large').focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Delete')
    const dialog = page.getByRole('dialog')
    await dialog.getByText('601 songs').waitFor()
    await dialog.getByRole('button', { name: 'Delete' }).click()
    await page.getByText('1 item deleted.').waitFor({ timeout: 60_000 })
    expect(await count('large')).toBe(0)
  }, 120_000)

  test('is used with the keyboard', async ({ program, openPage }) => {
    const page = await openPage({ viewport: { width: 1280, height: 900 } })
    await mockList(page)
    await openMedia(page, program)
    const row = (name: string) =>
      page.locator('.media-row').filter({ hasText: new RegExp(`^\\s*${name}\\s`) })
    await row('Song 0').waitFor()
    await row('Song 0').focus()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Shift+ArrowDown')
    await selectedCount(page).filter({ hasText: '3 selected' }).waitFor()
    await page.keyboard.press('End')
    await row('Song 49999').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toContain('Song 49999')
    await selectedCount(page).filter({ hasText: '“Song 49999”' }).waitFor()
    await page.keyboard.press('Control+Home')
    await page.keyboard.press('Space')
    await selectedCount(page).filter({ hasText: '2 selected' }).waitFor()
    await page.keyboard.press('Control+a')
    await selectedCount(page).filter({ hasText: '50,000 selected' }).waitFor({ timeout: 20_000 })
    await page.keyboard.press('Escape')
    await selectedCount(page).waitFor({ state: 'detached' })
  })
})
