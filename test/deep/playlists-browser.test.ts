import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { axeFindings } from '../support/open-page.ts'
import { createUser, password } from '../support/people.ts'
import { startPlaying } from '../support/playing.ts'
import { type JsonBody } from '../support/program.ts'

const names = (body: readonly JsonBody[]): string[] => body.map(({ name }) => name)

describe.skipIf(whyWithout('chromium') !== null)('in Chromium', () => {
  test('a playlist is created, edited, filled, ordered, copied and deleted', async ({
    program,
    openPage
  }) => {
    const page = await openPage({ viewport: { width: 1200, height: 1000 } })
    const { ask } = program
    const { id, document: np } = await startPlaying(program, { songMs: 3_600_000, tracks: 4 })
    const path = `/api/station/${id}`
    const { email } = await createUser(program, { role: 'Administrator' })
    await page.goto(`${program.baseUrl}/#/station/${np.station.shortcode}/playlists`)
    const signIn = page.getByRole('dialog')
    await signIn.getByLabel('Email address').fill(email)
    await signIn.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await signIn.waitFor({ state: 'hidden' })
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByLabel('Name').fill('rotation')
    await page.getByText('Another playlist has this name.').waitFor()
    await page.getByLabel('Name').fill('Jingles')
    await page.getByLabel('Type', { exact: true }).selectOption('once_per_x_songs')
    await page.getByLabel('Weight').fill('101')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Weight must be from 0 to 100.').waitFor()
    expect(
      await page.getByLabel('Weight').evaluate(input => input === input.ownerDocument.activeElement)
    ).toBe(true)
    await page.getByLabel('Weight').fill('5')
    await page.locator('[data-code=no_songs]').waitFor({ timeout: 40_000 })
    expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name: 'Songs (0)' }).waitFor()
    await page.reload()
    await page.getByRole('heading', { name: 'Songs (0)' }).waitFor()

    const songs = ['test:3', 'test:1', 'nowhere.mp3'].join('\n')
    const file = { name: 'list.m3u', mimeType: 'audio/x-mpegurl', buffer: Buffer.from(`#EXTM3U\n${songs}\n`) }
    await page.locator('input[type=file]').setInputFiles(file)
    await page.getByText('1 entry of the file are not in the library').waitFor()
    await page.getByRole('heading', { name: 'Songs (2)' }).waitFor()
    const titles = page.locator('.playlist-songs .row-title')
    const before = await titles.allTextContents()
    await page.locator('.grip').first().press('ArrowDown')
    expect(await titles.allTextContents()).toEqual(before.toReversed())
    await page.getByRole('button', { name: 'Save order' }).click()
    await page.getByText('The order was saved.').waitFor()
    const again = page.getByRole('button', { name: /^Add .*, position 1, again after it$/ })
    await again.click()
    await page.getByRole('heading', { name: 'Songs (3)' }).waitFor()
    const [second = '', first = ''] = before
    expect(await titles.allTextContents()).toEqual([first, first, second])
    expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])
    await page.getByRole('button', { name: /^Remove .*, position 1$/ }).click()
    await page.getByRole('heading', { name: 'Songs (2)' }).waitFor()
    expect(await titles.allTextContents()).toEqual([first, second])
    await ask('POST', `${path}/files`, { body: { path: 'Jazz/a.mp3', title: 'Arrived', length: 60 } })
    const folder = page.getByLabel('Folder', { exact: true })
    await folder.fill('Jaz')
    await page.getByRole('button', { name: 'Add folder' }).click()
    await page.getByText('is not a folder of the library').waitFor()
    await folder.fill('Jazz')
    await page.getByRole('button', { name: 'Add folder' }).click()
    await page.getByRole('heading', { name: 'Folders (1)' }).waitFor()
    await page.getByRole('heading', { name: 'Songs (3)' }).waitFor()
    expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])
    await page.getByRole('button', { name: /^Remove the folder/ }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByRole('heading', { name: 'Folders (0)' }).waitFor()
    await page.getByRole('heading', { name: 'Songs (2)' }).waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export PLS' }).click()
    expect((await download).suggestedFilename()).toBe('Jingles.pls')
    // The interval is still 0.
    await page.locator('[data-code=no_interval]').waitFor({ timeout: 40_000 })
    await page.getByLabel('Play per songs').fill('2')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.locator('button[type=submit][aria-busy=false]').waitFor()
    await page.getByText('In the coming week it would play').waitFor({ timeout: 40_000 })
    await page.getByRole('button', { name: 'Back' }).click()

    await page.getByText('Every 2 songs').waitFor()
    await page.getByLabel('Actions for “Jingles”').click()
    await page.getByRole('button', { name: 'Copy “Jingles”' }).click()
    await page.getByRole('link', { name: 'Jingles (copy)', exact: true }).waitFor()
    await page.getByRole('button', { name: 'Delete “Jingles”', exact: true }).click()
    await page.getByText('the order of 2 songs').waitFor()
    await page.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('link', { name: 'Jingles', exact: true }).waitFor({ state: 'detached' })
    const { body } = await ask('GET', `${path}/playlists`)
    expect(names(body)).toEqual(['Jingles (copy)', 'Rotation'])
    expect(body[0]).toMatchObject({
      type: 'once_per_x_songs',
      play_per_songs: 2,
      weight: 5,
      is_enabled: false
    })
    expect((await ask('GET', `${path}/playlist/${body[0].id}/order`)).body).toHaveLength(2)
  }, 120_000)
})
