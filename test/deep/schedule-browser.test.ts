import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { axeFindings } from '../support/open-page.ts'
import { startPlaying } from '../support/playing.ts'
import { adminKey, type Program } from '../support/program.ts'
import { patience } from '../support/wait.ts'

async function openSection(page: Page, program: Program, section: string) {
  const station = await startPlaying(program, { songMs: 3_600_000 })
  const name: string = station.document.station.shortcode
  await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'`)
  await page.goto(`${program.baseUrl}/#/station/${name}/${section}`)
  return { ...station, path: `/api/station/${station.id}` }
}

const block = (page: Page) => page.locator('.showing-button')

/** Drags the mouse by days and minutes of the calendar, from a point of a block or lane. */
async function dragBy(page: Page, from: { x: number; y: number }, days: number, minutes: number) {
  const [one, other] = [page.locator('.week-lane').nth(0), page.locator('.week-lane').nth(1)]
  const [left, next] = [await one.boundingBox(), await other.boundingBox()]
  if (!left || !next) throw new Error('there is no calendar')
  const to = { x: from.x + days * (next.x - left.x), y: from.y + (minutes / 1_440) * left.height }
  await page.mouse.move(from.x, from.y)
  await page.mouse.down()
  await page.mouse.move((from.x + to.x) / 2, (from.y + to.y) / 2)
  await page.mouse.move(to.x, to.y)
  await page.mouse.up()
}

async function pointIn(page: Page, part: 'middle' | 'bottom') {
  const box = await block(page).first().boundingBox()
  if (!box) throw new Error('there is no block')
  return { x: box.x + box.width / 2, y: part === 'middle' ? box.y + box.height / 2 : box.y + box.height - 2 }
}

describe.skipIf(whyWithout('chromium') !== null)('in Chromium', () => {
  test('a period is drawn, moved, resized, simulated and saved, by mouse and keyboard', async ({
    program,
    openPage
  }) => {
    const page = await openPage({ viewport: { width: 1400, height: 1100 } })
    const { path, playlistId } = await openSection(page, program, 'schedule')
    const status = page.locator('#block-help + [role=status]')
    const summary = page.locator('.simulation [role=status]')
    await summary.filter({ hasText: 'plays' }).waitFor({ timeout: 40_000 })
    const lane = await page.locator('.week-lane').nth(1).boundingBox()
    if (!lane) throw new Error('there is no lane')
    // On Tuesday from 06:00 to 08:00.
    await dragBy(page, { x: lane.x + lane.width / 2, y: lane.y + lane.height / 4 + 2 }, 0, 120)
    await status.filter({ hasText: 'Rotation: Tue 06:00–08:00' }).waitFor()
    await dragBy(page, await pointIn(page, 'middle'), 1, 60)
    await status.filter({ hasText: 'Rotation: Wed 07:00–09:00' }).waitFor()
    await dragBy(page, await pointIn(page, 'bottom'), 0, 60)
    await status.filter({ hasText: 'Rotation: Wed 07:00–10:00' }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('Shift+ArrowDown')
    await page.keyboard.press('Alt+ArrowUp')
    await status.filter({ hasText: 'Rotation: Thu 07:00–10:30' }).waitFor()
    expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])
    await page.getByLabel('Last date').fill('2020-01-01')
    await page.locator('[data-code=dates_past]').waitFor({ timeout: 40_000 })
    await page.getByLabel('Last date').fill('')
    await page.getByLabel('Last date').blur()
    await page.locator('[data-code=dates_past]').waitFor({ state: 'detached', timeout: 40_000 })
    const before = await program.ask('GET', `${path}/playlist/${playlistId}`)
    expect(before.body.schedule_items).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    // The only playlist has a schedule now: at other times the station is silent, which is asked.
    const question = page.getByRole('dialog').getByRole('button', { name: 'Save' })
    const saved = page.getByText('1 schedule saved.')
    await question.or(saved).first().waitFor({ timeout: 30_000 })
    if (await question.isVisible()) await question.click()
    await saved.waitFor()
    const { body } = await program.ask('GET', `${path}/playlist/${playlistId}`)
    expect(body.schedule_items).toMatchObject([{ start_time: 700, end_time: 1030, days: [4], end_date: '' }])
  }, 90_000)

  test('a tap on an empty place, or the button of a day, opens the form of a period there', async ({
    program,
    openPage
  }) => {
    const page = await openPage({ viewport: { width: 1024, height: 1100 }, hasTouch: true })
    await openSection(page, program, 'schedule')
    const friday = page.getByRole('button', { name: /^New period on Friday/ })
    await friday.waitFor()
    const lane = await page.locator('.week-lane').nth(1).boundingBox()
    if (!lane) throw new Error('there is no lane')
    await page.touchscreen.tap(lane.x + lane.width / 2, lane.y + lane.height / 4 + 2)
    await page.locator('#item-start:focus').waitFor()
    expect(await page.getByLabel('Start', { exact: true }).inputValue()).toBe('06:00')
    expect(await page.getByRole('checkbox', { name: 'Tuesday' }).isChecked()).toBe(true)
    expect(await page.getByRole('checkbox', { name: 'Monday' }).isChecked()).toBe(false)
    await friday.press('Enter')
    await page.getByRole('checkbox', { name: 'Friday', checked: true }).waitFor()
    expect(await page.getByLabel('End', { exact: true }).inputValue()).toBe('13:00')
    expect(await block(page).count()).toBe(2)
    expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])
  }, 60_000)

  test('saving does not wait for a simulation, and says afterwards that the station is silent', async ({
    program,
    openPage
  }) => {
    const page = await openPage({ viewport: { width: 1400, height: 1100 } })
    // No simulation answers before the schedule is saved.
    let release = () => {}
    const released = new Promise<void>(resolve => (release = resolve))
    await page.route('**/schedule/simulation*', async route => {
      await released
      await route.continue()
    })
    const { path, playlistId } = await openSection(page, program, 'schedule')
    await page.getByRole('button', { name: 'Add', exact: true }).click()
    // A week that is over: nothing plays now.
    await page.getByLabel('Last date').fill('2020-01-01')
    await page.getByLabel('Last date').blur()
    const startedMs = performance.now()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('1 schedule saved.').waitFor({ timeout: 5_000 })
    expect(performance.now() - startedMs).toBeLessThan(500 * patience)
    await page.getByText('1 schedule saved.').waitFor({ state: 'detached', timeout: 15_000 })
    const { body } = await program.ask('GET', `${path}/playlist/${playlistId}`)
    expect(body.schedule_items).toHaveLength(1)
    release()
    const warning = page.locator('.notice', { hasText: 'No playlist plays now' })
    await warning.waitFor({ timeout: 40_000 })
    // It stays while it is read, and leaves by itself.
    await page.mouse.move(1, 1)
    await warning.waitFor({ state: 'detached', timeout: 25_000 })
  }, 90_000)

  test('a schedule that the server refuses stays unsaved, with its problem', async ({
    program,
    openPage
  }) => {
    const page = await openPage({ viewport: { width: 1400, height: 1100 } })
    const { path, playlistId } = await openSection(page, program, 'schedule')
    await page.getByRole('button', { name: 'Add' }).click()
    await page.getByLabel('First date').fill('2030-02-02')
    await page.getByLabel('Last date').fill('2030-01-01')
    await page.getByLabel('Last date').blur()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.locator('.schedule-tools + .trouble', { hasText: 'must not be before start_date' }).waitFor()
    await page.getByText('1 schedule not saved').waitFor()
    const { body } = await program.ask('GET', `${path}/playlist/${playlistId}`)
    expect(body.schedule_items).toEqual([])
  }, 60_000)
})
