import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'

import { isolatedTest as test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { axeFindings } from '../support/open-page.ts'
import { adminKey, type JsonBody, type Program } from '../support/program.ts'
import { isDeep } from '../support/tier.ts'

/** Creates a station by the API and opens a view, signed in. */
async function openView(page: Page, { ask, baseUrl }: Program, section: string) {
  const { body } = await ask('POST', '/api/admin/stations', { body: { name: `Console ${section}` } })
  const name: string = body.short_name
  await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'`)
  await page.goto(`${baseUrl}/#/${section.replace('station', `station/${name}`)}`)
  return { id: Number(body.id), name, path: `/api/station/${body.id}` }
}

interface ResourceCase {
  readonly view: string
  readonly noun: string
  /** The list of the API. `{station}` is the path of the station. */
  readonly list: string
  readonly rows?: string
  /** The fields of a new record by label; those with an error first. */
  readonly wrong: Readonly<Record<string, string>>
  readonly problem: string
  readonly right: Readonly<Record<string, string>>
  /** The member by which it is listed. */
  readonly member: string
  readonly edit: readonly [label: string, text: string, member: string]
  readonly removeVerb?: string
}

const cases: readonly ResourceCase[] = [
  {
    view: 'station/mounts',
    noun: 'mount',
    list: '{station}/hls_streams',
    wrong: { Name: '/a b' },
    problem: 'Name must be a path without spaces, ?, # and ..',
    right: { Name: '/console.mp3' },
    member: 'name',
    edit: ['Display name', 'Main', 'display_name']
  },
  {
    view: 'station/remotes',
    noun: 'relay',
    list: '{station}/remotes',
    wrong: { Name: 'Oslo', URL: 'ftp://x' },
    problem: 'URL must be an address that begins with http:// or https://.',
    right: { URL: 'https://relay.example.com/main.mp3' },
    member: 'name',
    edit: ['Bitrate', '128', 'bitrate']
  },
  {
    view: 'station/streamers',
    noun: 'streamer',
    list: '{station}/streamers',
    wrong: { 'Streamer username': 'a:b' },
    problem: 'Streamer username must not be "source" or contain a comma or colon.',
    right: { 'Streamer username': 'wren' },
    member: 'streamer_username',
    edit: ['Comments', 'Tuesdays', 'comments']
  },
  {
    view: 'station/sftp',
    noun: 'SFTP user',
    list: '{station}/sftp-users',
    wrong: { Username: 'a b' },
    problem: 'Username may hold letters, digits and . _ ~ - only.',
    right: { Username: 'night-shift', Password: 'correct horse' },
    member: 'username',
    edit: ['Username', 'late-shift', 'username']
  },
  {
    view: 'fields',
    noun: 'custom field',
    list: '/api/admin/custom_fields',
    wrong: { Name: 'Mood of the song', 'Short name': 'a b' },
    problem: 'Short name may contain only letters, digits, _, . and -.',
    right: { 'Short name': 'song_mood' },
    member: 'name',
    edit: ['Auto assign', 'mood', 'auto_assign']
  },
  {
    view: 'news',
    noun: 'article',
    list: '/api/v1/main/news',
    rows: 'articles',
    wrong: { Title: '' },
    problem: 'Title must not be empty.',
    right: { Title: 'We are moving' },
    member: 'title',
    edit: ['Body', 'On Monday.', 'body']
  }
]

const within5s = { timeout: 5_000 }

const dialogOf = (page: Page) => page.locator('dialog.form-dialog')

async function fill(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  for (const [label, text] of Object.entries(fields))
    await dialogOf(page).getByLabel(label, { exact: true }).fill(text)
}

describe.skipIf(whyWithout('chromium') !== null)('in Chromium', () => {
  test.for(cases.filter(({ noun }) => isDeep || noun === 'SFTP user'))(
    'records are created, edited, copied and deleted: $noun',
    { timeout: 60_000 },
    async (each, { program, openPage }) => {
      const page = await openPage({ viewport: { width: 390, height: 844 } })
      const station = await openView(page, program, each.view)
      const list = each.list.replace('{station}', station.path)
      const read = async (): Promise<JsonBody[]> => {
        const { body } = await program.ask('GET', `${list}?per_page=0`)
        return body[each.rows ?? 'rows']
      }
      const before = (await read()).length
      const name = String(Object.values(each.right)[0])
      const listed = each.right[Object.keys(each.wrong)[0] ?? ''] ?? Object.values(each.wrong)[0] ?? name

      await page.getByRole('button', { name: `New ${each.noun}` }).click()
      await fill(page, each.wrong)
      await dialogOf(page).getByRole('button', { name: 'Create' }).click()
      await dialogOf(page).getByText(each.problem).waitFor()
      expect(await page.locator('dialog :focus').getAttribute('aria-invalid')).toBe('true')
      expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])
      await fill(page, each.right)
      await page.keyboard.press('Control+s')
      await dialogOf(page).waitFor({ state: 'detached' })
      await expect.poll(async () => (await read()).length, within5s).toBe(before + 1)

      const [label, text, member] = each.edit
      await page.getByRole('button', { name: new RegExp(`^Edit ${listed}`) }).click()
      await dialogOf(page).waitFor()
      await page.goBack()
      await dialogOf(page).waitFor({ state: 'detached' })
      await page.goForward()
      await dialogOf(page).waitFor()
      await page.reload()
      await fill(page, { [label]: text })
      await dialogOf(page).getByRole('button', { name: 'Save' }).click()
      await dialogOf(page).waitFor({ state: 'detached' })
      expect((await read()).map(row => String(row[member]))).toContain(text)

      await page
        .getByRole('button', { name: /^Copy / })
        .first()
        .click()
      if (each.noun === 'SFTP user') await fill(page, { Password: 'battery staple' })
      await dialogOf(page).getByRole('button', { name: 'Create' }).click()
      await dialogOf(page).waitFor({ state: 'detached' })
      await expect.poll(async () => (await read()).length, within5s).toBe(before + 2)

      for (let left = before + 2; left > before; left--) {
        await page
          .getByRole('button', { name: /^Delete / })
          .last()
          .click()
        await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
        await expect.poll(async () => (await read()).length, within5s).toBe(left - 1)
      }
    }
  )

  test.runIf(isDeep)(
    'a web hook is created for its type, edited, copied and deleted',
    async ({ program, openPage }) => {
      const page = await openPage()
      const { path } = await openView(page, program, 'station/hooks')
      const read = async (): Promise<JsonBody[]> => (await program.ask('GET', `${path}/webhooks`)).body
      await page.getByRole('button', { name: 'New web hook' }).click()
      const dialog = dialogOf(page)
      await dialog.getByLabel('Type', { exact: true }).selectOption('discord')
      await fill(page, { Name: 'Chat', 'Webhook URL': 'nowhere' })
      await dialog.getByRole('button', { name: 'Create' }).click()
      await dialog.getByText('Webhook URL must be an address').waitFor()
      await fill(page, {
        'Webhook URL': 'https://discord.example.com/api/webhooks/1/x',
        Content: 'Now playing'
      })
      await dialog.getByLabel('song changed', { exact: true }).check()
      await dialog.getByRole('button', { name: 'Create' }).click()
      await dialog.waitFor({ state: 'detached' })
      expect(await read()).toMatchObject([{ name: 'Chat', type: 'discord', triggers: ['song_changed'] }])
      await page.getByRole('button', { name: 'Edit' }).click()
      expect(await dialog.getByLabel('Webhook URL').inputValue()).toBe('')
      await fill(page, { Content: 'On the air' })
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
      const [hook] = await read()
      expect(hook?.config).toContainEqual({ key: 'content', value: 'On the air' })
      await page.getByRole('button', { name: 'Copy' }).click()
      await expect.poll(async () => (await read()).length, within5s).toBe(2)
      await page.getByRole('button', { name: 'Delete' }).first().click()
      await page.getByRole('dialog').getByText('0 deliveries').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await expect.poll(async () => (await read()).length, within5s).toBe(1)
    },
    60_000
  )

  test.runIf(isDeep)(
    'an API key for two stations is shown once, copied and revoked',
    async ({ program, openPage }) => {
      const page = await openPage()
      const { body: other } = await program.ask('POST', '/api/admin/stations', { body: { name: 'Second' } })
      const { id } = await openView(page, program, 'keys')
      await page.getByRole('button', { name: 'New API key' }).click()
      await fill(page, { Name: 'Morning show' })
      const add = dialogOf(page).getByLabel('Add a station', { exact: true })
      await add.selectOption('Console keys')
      const first = dialogOf(page).getByRole('group', { name: 'Console keys' })
      await first.getByLabel('manage station media', { exact: true }).check()
      await add.selectOption('Second')
      const second = dialogOf(page).getByRole('group', { name: 'Second' })
      await second.getByLabel('As the role').selectOption('Station manager')
      expect(await second.getByRole('checkbox', { checked: true }).count()).toBeGreaterThan(5)
      await second.getByLabel('manage station media', { exact: true }).uncheck()
      expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])
      await dialogOf(page).getByRole('button', { name: 'Create' }).click()
      const secret = page.getByRole('textbox', { name: 'The new API key' })
      const key = await secret.inputValue()
      expect(key).toMatch(/^[0-9a-f]{16}:[0-9a-f]{32}$/)
      await page.getByRole('button', { name: 'Done' }).click()
      await secret.waitFor({ state: 'detached' })
      const files = `/api/station/${id}/files`
      expect((await program.ask('GET', files, { key })).status).toBe(200)
      const body = { name: 'new' }
      const ofSecond = (method: string, path: string) =>
        program.ask(method, `/api/station/${other.id}/${path}`, { key, body })
      expect((await ofSecond('POST', 'files/mkdir')).status).toBe(403)
      expect((await ofSecond('POST', 'playlists')).status).toBe(403)
      expect((await ofSecond('POST', 'queue/clear')).status).toBe(200)
      await page.getByRole('button', { name: 'Copy Morning show' }).click()
      expect(await second.getByLabel('manage station media', { exact: true }).isChecked()).toBe(false)
      await dialogOf(page).getByRole('button', { name: 'Cancel' }).click()
      await page.getByRole('button', { name: 'Revoke Morning show' }).click()
      await page.getByRole('dialog').getByText('never used').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('row', { name: /Morning show.*Revoked/ }).waitFor()
      expect((await program.ask('GET', files, { key })).status).toBe(403)
    },
    60_000
  )

  test.runIf(isDeep)(
    'a storage location shows the fields of its adapter, and is deleted',
    async ({ program, openPage }) => {
      const page = await openPage()
      await openView(page, program, 'storage')
      await page.getByRole('button', { name: 'New storage location' }).click()
      const dialog = dialogOf(page)
      expect(await dialog.getByLabel('SFTP host').count()).toBe(0)
      await dialog.getByLabel('Adapter').selectOption('sftp')
      await dialog.getByRole('button', { name: 'Create' }).click()
      await dialog.getByText('SFTP host is required').waitFor()
      await dialog.getByLabel('Adapter').selectOption('local')
      await fill(page, { Path: '/srv/radio/console' })
      await dialog.getByRole('button', { name: 'Create' }).click()
      await dialog.waitFor({ state: 'detached' })
      await page.getByRole('button', { name: 'Delete /srv/radio/console' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.getByText('There are no storage locations.').waitFor()
    },
    60_000
  )

  test.runIf(isDeep)(
    'settings survive reads, ask before they are left, and a deletion names what is lost',
    async ({ program, openPage }) => {
      const page = await openPage()
      const { id, name, path } = await openView(page, program, 'station/settings')
      await program.ask('POST', `${path}/playlists`, { body: { name: 'Rotation' } })
      const description = page.getByLabel('Description', { exact: true })
      await description.fill('By the sea')
      const storedBefore = { offline_text: 'Silence', source_password: 'open sesame' }
      await program.ask('PUT', `/api/admin/station/${id}`, { body: storedBefore })
      await page.getByRole('link', { name: 'All stations' }).click()
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
      await page.waitForURL(`**/#/station/${name}/settings`)
      expect(await description.inputValue()).toBe('By the sea')
      await page.getByLabel('Time zone').fill('Nowhere')
      await description.press('Control+s')
      await page.getByText('Time zone must be a time zone like Europe/Berlin.').waitFor()
      await page.locator('summary', { hasText: 'Live shows' }).click()
      await page.getByRole('button', { name: 'Remove the stored value of Source password' }).click()
      expect(await page.getByLabel('Source password').getAttribute('placeholder')).toBe('will be removed')
      await page.getByLabel('Time zone').fill('Europe/Oslo')
      await page.keyboard.press('Enter')
      await page.getByText('Saved.').waitFor()
      const { body } = await program.ask('GET', `/api/admin/station/${id}`)
      expect(body).toMatchObject({
        description: 'By the sea',
        timezone: 'Europe/Oslo',
        offline_text: 'Silence'
      })
      const [stored] = await program.sql`select source_password as password from stations where id = ${id}`
      expect(stored).toEqual({ password: '' })
      await page.getByRole('button', { name: 'Copy' }).click()
      await page.getByRole('heading', { name: 'Copy station' }).waitFor()
      await dialogOf(page).getByText('Songs are not copied either').waitFor()
      await fill(page, { Name: 'The copy' })
      await dialogOf(page).getByRole('button', { name: 'Create' }).click()
      await page.waitForURL(/the_copy\/settings$/)
      const { body: copies } = await program.ask('GET', '/api/station/the_copy/playlists')
      expect(copies).toMatchObject([{ name: 'Rotation' }])
      await page.goto(`${program.baseUrl}/#/station/${name}/settings`)
      await page.getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('dialog').getByText('0 songs, 1 playlist').waitFor()
      await page.getByRole('dialog').getByText('1 mount, 0 relays, 0 SFTP users').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
      await page.waitForURL(/#\/$/)
      expect((await program.ask('GET', `/api/admin/station/${id}`)).status).toBe(404)
    },
    60_000
  )

  test.runIf(isDeep)(
    'the first steps are done by keyboard, and can be left and resumed',
    async ({ program, openPage }) => {
      const page = await openPage({ viewport: { width: 390, height: 844 } })
      await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'`)
      await page.goto(`${program.baseUrl}/#/start`)
      await page.getByRole('button', { name: /Name a station|New station/ }).press('Enter')
      await page.getByLabel('Name', { exact: true }).waitFor()
      await page.keyboard.type('Harbour Console')
      await page.keyboard.press('Enter')
      await page.getByRole('link', { name: 'Harbour Console' }).waitFor()
      await page.reload()
      await page.getByRole('link', { name: 'Harbour Console' }).waitFor()
      await page.getByRole('radio', { name: /Liquidsoap/ }).press('Space')
      await page.getByRole('button', { name: 'Download the script' }).waitFor()
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: 'Download the script' }).press('Enter')
      expect((await download).suggestedFilename()).toMatch(/^station-\d+\.liq$/)
      expect(await page.getByLabel('The code of the widget').inputValue()).toContain('<cuewire-now-playing')
      expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390)
    },
    60_000
  )

  test.runIf(isDeep)(
    'the stations are shown in a table that is sorted and remembered',
    async ({ program, openPage }) => {
      for (const name of ['Zebra FM', 'Alpha FM'])
        await program.ask('POST', '/api/admin/stations', { body: { name } })
      const page = await openPage()
      await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'`)
      await page.goto(program.baseUrl)
      await page.getByRole('button', { name: 'New station' }).click()
      await fill(page, { Name: 'Middle FM' })
      await dialogOf(page).getByRole('button', { name: 'Create' }).click()
      await page.getByRole('link', { name: 'Middle FM' }).waitFor()
      expect(page.url()).toMatch(/#\/start$/)
      await page.goto(`${program.baseUrl}/#/`)
      await page.getByRole('button', { name: 'Show as a table' }).click()
      await page.reload()
      const names = () => page.locator('.station-table tbody th').allTextContents()
      await page.locator('.station-table').waitFor()
      const ascending = await names()
      expect(ascending.indexOf('Alpha FM')).toBeLessThan(ascending.indexOf('Zebra FM'))
      await page.getByRole('button', { name: 'Station', exact: true }).click()
      expect(await names()).toEqual(ascending.toReversed())
      expect(await axeFindings(page, ['minor', 'moderate'])).toEqual([])
      // More than are shown at first: those that are shown are the first of all.
      await page.route('**/api/nowplaying', async route => {
        const [np] = await (await route.fetch()).json()
        const json = Array.from({ length: 400 }, (_, index) => ({
          ...np,
          station: { ...np.station, id: index + 1, name: `Station ${index}`, shortcode: `s${index}` },
          listeners: { ...np.listeners, total: index }
        }))
        await route.fulfill({ json })
      })
      await page.reload()
      await page.getByText('Station 17', { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Listeners' }).click()
      expect((await names()).slice(0, 2)).toEqual(['Station 399', 'Station 398'])
    },
    60_000
  )

  test('a view whose files are missing reloads the page once, and then says so', async ({
    program,
    openPage
  }) => {
    const page = await openPage({ allowsErrors: true })
    await page.route('**/part-resource-pages-*.js', route => route.abort())
    let loads = 0
    page.on('load', () => loads++)
    await openView(page, program, 'keys')
    await page.getByText('This view could not be loaded').waitFor()
    expect(loads).toBe(2)
    await page.unroute('**/part-resource-pages-*.js')
    await page.getByRole('button', { name: 'Reload the page' }).click()
    await page.getByRole('button', { name: 'New API key' }).waitFor()
  }, 60_000)
})
