import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { axeFindings } from '../support/open-page.ts'
import { startPlaying } from '../support/playing.ts'
import { adminKey, type JsonBody, type Program } from '../support/program.ts'
import { startFakeIcecast } from '../support/streaming-server.ts'

/** Starts a station, on a streaming server if one is given, and opens a section of its page, signed in. */
async function openSection(
  page: Page,
  program: Program,
  section: string,
  { key = adminKey, serverUrl = '' } = {}
) {
  const station = await startPlaying(program, { queueLength: 5 })
  const body = { frontend: 'icecast', frontend_url: serverUrl, frontend_admin_password: 'open sesame' }
  if (serverUrl !== '') await program.ask('PUT', `/api/admin/station/${station.id}`, { body })
  await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${key}'`)
  await page.goto(`${program.baseUrl}/#/station/${station.document.station.shortcode}/${section}`)
  return { ...station, path: `/api/station/${station.id}` }
}

const queued = async ({ ask }: Program, path: string): Promise<JsonBody[]> =>
  (await ask('GET', `${path}/queue`)).body

describe.skipIf(whyWithout('chromium') !== null)('in Chromium', () => {
  test('a song is found by search, and plays next', async ({ program, openPage }) => {
    const page = await openPage({ viewport: { width: 390, height: 800 } })
    const { path } = await openSection(page, program, 'queue')
    await page.getByLabel('Title, artist, album or path').fill('title 7')
    const result = page.locator('.result')
    await result.getByText('Title 7').waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText(/“Title 7” plays at/).waitFor()
    const rows = await queued(program, path)
    const first = rows.findIndex(row => !row.sent_to_autodj)
    expect(rows[first].song.title).toBe('Title 7')
    await page.locator('.queue-row .row-title').nth(first).getByText('Title 7').waitFor()
    await page.getByRole('button', { name: 'Add “Title 7” to the queue' }).click()
    await expect.poll(async () => (await queued(program, path))[first + 1].song.title).toBe('Title 7')
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    expect(await axeFindings(page, [])).toEqual([])
  })

  test('a request that waits plays next, and one is entered for a listener', async ({
    program,
    openPage
  }) => {
    const page = await openPage({ viewport: { width: 390, height: 800 } })
    const { id, path } = await openSection(page, program, 'queue')
    const [waiting] = await program.sql<{ title: string }[]>`
      with song as (
        select m.id, m.title from media m where m.station_id = ${id}
          and not exists (select from queue q where q.media_id = m.id) order by m.id desc limit 1
      ), request as (
        insert into requests (station_id, media_id, address, submitted_at_ms, due_at_ms)
        select ${id}, id, '198.18.0.1', ${Date.now()}, ${Date.now() + 3_600_000} from song returning id, media_id
      )
      select song.title from request join song on song.id = request.media_id`
    const title = waiting?.title ?? ''
    await page.reload()
    await page.getByRole('button', { name: `Play next: the request of “${title}”` }).click()
    await page.getByText(new RegExp(`“${title}” plays at`)).waitFor()
    const row = page.getByRole('region', { name: 'Table of requests' }).getByRole('row', { name: title })
    await row.getByText('In the queue').waitFor()
    expect(await row.getByRole('button').count()).toBe(1)
    const next = async () => (await queued(program, path)).find(each => !each.sent_to_autodj)
    expect(await next()).toMatchObject({ is_request: true, song: { title } })
    await page.getByLabel('Add as the request of a listener').check()
    await page.getByLabel('Title, artist, album or path').fill('title 7')
    await page.getByRole('button', { name: 'Play next: “Title 7”' }).click()
    await page.getByText(/“Title 7” plays at/).waitFor()
    expect(await next()).toMatchObject({ is_request: true, song: { title: 'Title 7' } })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    expect(await axeFindings(page, [])).toEqual([])
  })

  test('a key that cannot change the queue is offered no search', async ({ program, openPage }) => {
    const made = await program.ask('POST', '/api/v1/main/api-keys', {
      body: { name: 'viewer', permissions: ['view station management'] }
    })
    const page = await openPage()
    await openSection(page, program, 'queue', { key: made.body.key })
    await page.locator('.queue-row').first().waitFor()
    expect(await page.getByLabel('Title, artist, album or path').count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Reports' }).count()).toBe(0)
  })

  test('reports show listeners, songs, the history and why a song was played', async ({
    program,
    openPage
  }) => {
    await using icecast = await startFakeIcecast()
    icecast.send({
      path: '/radio.mp3',
      listeners: [
        ['203.0.113.9', 'VLC/3.0', 70],
        ['203.0.113.8', 'foobar2000/2.1', 7_000]
      ]
    })
    const page = await openPage({ viewport: { width: 390, height: 800 }, acceptDownloads: true })
    const { document, path } = await openSection(page, program, 'reports', { serverUrl: icecast.url })
    const { title } = document.now_playing.song
    await page.getByText('2 listeners, 2 different').waitFor()
    await page.getByRole('button', { name: 'Show connections' }).click()
    await page.getByText('203.0.113.9').waitFor()
    const readAudience = async () => (await program.ask('GET', `${path}/reports/audience`)).body.sessions
    await expect.poll(readAudience, { timeout: 20_000 }).toBe(2)
    await page.reload()
    const audience = page.locator('audience-report')
    await audience.getByText('in 2 sessions').waitFor()
    await audience.getByLabel('Groups').selectOption({ label: 'By program' })
    await audience.getByText('foobar2000').waitFor()
    await page.locator('song-report').getByText(title, { exact: true }).waitFor()
    const history = page.locator('play-history')
    await history.getByText('Why').first().click()
    await history.getByText(/^Picked from “Rotation”/).waitFor()
    await history.getByLabel('Title, artist or playlist').fill('nothing like this')
    await history.getByText('There are no such plays.').waitFor()
    await history.getByLabel('Title, artist or playlist').fill(title)
    await history.getByText(title, { exact: true }).first().waitFor()
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      history.getByRole('button', { name: 'Download CSV' }).click()
    ])
    expect(download.suggestedFilename()).toMatch(/-history\.csv$/)
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
    expect(await axeFindings(page, [])).toEqual([])
  })

  test('the audit log is filtered', async ({ program, openPage }) => {
    const { id } = await startPlaying(program)
    await program.ask('POST', `/api/station/${id}/queue/clear`)
    const page = await openPage()
    await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'`)
    await page.goto(`${program.baseUrl}/#/audit`)
    await page.getByLabel('Station (short name or id)').fill(String(id))
    await page.getByRole('cell', { name: `POST /api/station/${id}/queue/clear`, exact: true }).waitFor()
    await page.getByLabel('Kind of record').selectOption('Mount')
    await page.getByText('There are no such changes.').waitFor()
    await page.getByLabel('Kind of record').selectOption('Queue')
    await page.getByRole('cell', { name: /^Queue / }).waitFor()
    await page.getByLabel('Station (short name or id)').fill('no such station')
    await page.getByText('station is no station.').waitFor()
    expect(await axeFindings(page, [])).toEqual([])
  })
})
