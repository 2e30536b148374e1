import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'

import { isolatedTest as test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import type { OpenPage } from '../support/open-page.ts'
import { startPlaying } from '../support/playing.ts'
import { adminKey, type Program } from '../support/program.ts'

async function openStation(program: Program, openPage: OpenPage) {
  const station = await startPlaying(program, { songMs: 3_600_000, tracks: 2 })
  const name: string = station.document.station.shortcode
  const page = await openPage({ viewport: { width: 1280, height: 1000 } })
  page.setDefaultTimeout(15_000)
  await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'`)
  const open = (section: string) => page.goto(`${program.baseUrl}/#/station/${name}/${section}`)
  return { page, open, path: `/api/station/${station.id}`, ...station }
}

const save = (page: Page) => page.getByRole('button', { name: 'Save', exact: true }).click()
const isFocused = (page: Page, label: string) =>
  page.getByLabel(label, { exact: true }).evaluate(input => input === input.ownerDocument.activeElement)

describe.skipIf(whyWithout('chromium') !== null)('in Chromium', () => {
  test('what is typed while a form is being saved stays, and is saved next', async ({
    program,
    openPage
  }) => {
    const { page, open, id } = await openStation(program, openPage)
    let release = () => {}
    const released = new Promise<void>(resolve => (release = resolve))
    await page.route(`**/api/admin/station/${id}`, async route => {
      if (route.request().method() === 'PUT') await released
      await route.continue()
    })
    const description = page.getByLabel('Description', { exact: true })
    await open('settings')
    await description.fill('First')
    await save(page)
    await page.getByRole('button', { name: 'Saving…' }).waitFor()
    await description.fill('Second')
    release()
    await page.getByText('Saved.').waitFor()
    expect(await description.inputValue()).toBe('Second')
    await save(page)
    const stored = async () => (await program.ask('GET', `/api/admin/station/${id}`)).body.description
    await expect.poll(stored, { timeout: 10_000 }).toBe('Second')
  }, 60_000)

  test('changes of one playlist that are discarded are not in the form of another', async ({
    program,
    openPage
  }) => {
    const { page, open, path, playlistId } = await openStation(program, openPage)
    const other = await program.ask('POST', `${path}/playlists`, { body: { name: 'Evening' } })
    await open(`playlists/${playlistId}`)
    await page.getByLabel('Name', { exact: true }).fill('Morning')
    await open(`playlists/${other.body.id}`)
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('heading', { name: 'Evening' }).waitFor()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Evening')
  }, 60_000)

  test('problems of a file are shown at its fields, and a file that is gone cannot be saved', async ({
    program,
    openPage
  }) => {
    const { page, open, path } = await openStation(program, openPage)
    const [file] = (await program.ask('GET', `${path}/files`)).body
    await open(`media?file=${file.id}`)
    const details = page.locator('.media-details')
    await details.getByLabel('Cue in').last().fill('20')
    await details.getByLabel('Cue out').last().fill('10')
    await details.getByLabel('Title').fill('Mine')
    await details.getByRole('button', { name: 'Save' }).click()
    await details.getByText(/^Cue out must/).waitFor()
    expect(await details.locator('[aria-invalid=true]').count()).toBe(1)
    expect(
      await details
        .locator('[aria-invalid=true]')
        .evaluate(input => input === input.ownerDocument.activeElement)
    ).toBe(true)
    expect(await details.getByLabel('Title').inputValue()).toBe('Mine')
    await details.getByRole('button', { name: 'Discard' }).click()
    await details.getByLabel('Title').fill('Mine')
    await program.sql`delete from media where id = ${file.id}`
    await details.getByRole('button', { name: 'Save' }).click()
    await details.getByText('The file is no longer in the library: someone has deleted it.').waitFor()
    await details.getByRole('button', { name: 'Save', disabled: true }).waitFor()
    expect(await details.getByLabel('Title').inputValue()).toBe('Mine')
  }, 60_000)

  test('a dialog about a folder stays open with the problem, and can be tried again', async ({
    program,
    openPage
  }) => {
    const { page, open } = await openStation(program, openPage)
    await open('media')
    const dialog = page.getByRole('dialog', { name: 'New folder' })
    const create = async (name: string) => {
      await page.getByRole('button', { name: /New folder/ }).click()
      await dialog.getByLabel('Name').fill(name)
      await page.keyboard.press('Enter')
    }
    await create('Jazz')
    await page.getByText('Folder created.').waitFor()
    await create('..')
    await dialog.locator('.trouble:not([hidden])').waitFor()
    expect(await dialog.getByLabel('Name').inputValue()).toBe('..')
    await dialog.getByLabel('Name').fill('Rock')
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached' })
  }, 60_000)

  test('a problem in a closed group opens it and gets the focus', async ({ program, openPage }) => {
    const { page, open } = await openStation(program, openPage)
    await open('settings')
    await page.getByText('Playback', { exact: true }).click()
    const field = page.locator('record-form details[open] input[inputmode=decimal]').first()
    await field.fill('-1')
    const label = (await page.locator(`label[for="${await field.getAttribute('id')}"]`).textContent()) ?? ''
    await page.getByText('Playback', { exact: true }).click()
    await page.keyboard.press('Control+s')
    await page.locator('record-form details[open] [aria-invalid=true]').waitFor()
    expect(await isFocused(page, label)).toBe(true)
  }, 60_000)
})
