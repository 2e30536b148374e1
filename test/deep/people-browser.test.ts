import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'

import { isolatedTest as test } from '../support/fixtures.ts'
import { whyWithout } from '../support/foreign-programs.ts'
import { axeFindings, type OpenPage } from '../support/open-page.ts'
import { anyEmail, call, createUser, password, roleId, signedIn, signIn } from '../support/people.ts'
import { adminKey, type Program } from '../support/program.ts'

const withoutMinor = ['minor', 'moderate']

/** Passkeys belong to a name, so pages are opened at that of `BASE_URL`. */
const siteOf = ({ baseUrl }: Program) => baseUrl.replace('127.0.0.1', 'localhost')

/** A page with an authenticator in place of a fingerprint reader. */
async function openWithAuthenticator(openPage: OpenPage): Promise<Page> {
  const page = await openPage()
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true
    }
  })
  return page
}

async function fillSignIn(page: Page, email: string, secret = password) {
  await page.getByRole('button', { name: 'Sign in' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Email address').fill(email)
  await dialog.getByLabel('Password').fill(secret)
  await page.keyboard.press('Enter')
  return dialog
}

const isSignedIn = (page: Page) => page.getByRole('button', { name: 'Sign out', exact: true }).waitFor()

describe.skipIf(whyWithout('chromium') !== null)('in Chromium', () => {
  test('a person signs in with a password, changes it, and signs out', async ({ program, openPage }) => {
    const { email } = await createUser(program, { role: 'Administrator' })
    const other = await signIn(program, email)
    const page = await openPage()
    await page.goto(siteOf(program))
    const dialog = await fillSignIn(page, email, 'wrong')
    await dialog.getByText('The email address or the password is wrong.').waitFor()
    expect(await dialog.getByLabel('Password').getAttribute('aria-invalid')).toBe('true')
    expect(await axeFindings(page, withoutMinor)).toEqual([])
    await dialog.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await isSignedIn(page)
    await page.locator('main:focus').waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByLabel('Current password').fill(password)
    await page.getByLabel('New password').fill('a new password')
    await page.keyboard.press('Enter')
    await page.getByText('All other sessions have ended.').waitFor()
    expect((await call(program, 'GET', '/api/health', { cookie: other })).status).toBe(403)
    await page.getByText('This browser').waitFor()
    expect(await axeFindings(page, withoutMinor)).toEqual([])
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('button', { name: 'Sign in' }).waitFor()
    // A view that needs an account asks for it.
    await page.goto(`${siteOf(program)}/#/account`)
    await dialog.getByLabel('Email address').fill(email)
    await dialog.getByLabel('Password').fill('a new password')
    await page.keyboard.press('Enter')
    await isSignedIn(page)
    await page.getByLabel('Current password').waitFor()
  }, 60_000)

  test('what is typed stays when another tab signs out, and can be saved after signing in again', async ({
    program,
    openPage
  }) => {
    const { email } = await createUser(program, { role: 'Administrator' })
    const page = await openPage()
    await page.goto(siteOf(program))
    await fillSignIn(page, email)
    await isSignedIn(page)
    await page.goto(`${siteOf(program)}/#/fields/new`)
    await page.getByLabel('Name', { exact: true }).fill('Mood')
    const other = await page.context().newPage()
    await other.goto(siteOf(program))
    await other.getByRole('button', { name: 'Sign out', exact: true }).click()
    await other.getByRole('button', { name: 'Sign in' }).waitFor()
    const dialog = page.getByRole('dialog', { name: 'Sign in' })
    await dialog.getByText('your changes are still here').waitFor()
    await dialog.getByLabel('Email address').fill(email)
    await dialog.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await isSignedIn(page)
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Mood')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByText('Custom field created.').waitFor()
  }, 60_000)

  test('an invited person joins with a passkey and signs in with it', async ({ program, openPage }) => {
    const { cookie: administrator } = await signedIn(program, { role: 'Administrator' })
    const [name = '', value = ''] = administrator.split('=')
    const operator = await openPage()
    await operator.context().addCookies([{ name, value, url: siteOf(program) }])
    await operator.addInitScript(`localStorage['cuewire-user'] = '1'`)
    await operator.goto(`${siteOf(program)}/#/people`)
    await operator.getByRole('button', { name: 'Invite a person' }).click()
    await operator.getByLabel('Name (optional)').fill('Dora')
    await operator.getByRole('button', { name: 'Create the link' }).click()
    await operator.getByText('Roles must not be empty.').waitFor()
    await operator.getByRole('checkbox', { name: 'DJ' }).check()
    expect(await axeFindings(operator, withoutMinor)).toEqual([])
    await operator.getByRole('button', { name: 'Create the link' }).click()
    const link = (await operator.getByRole('status').locator('code').textContent()) ?? ''
    expect(link).toMatch(/#\/join\//)
    await operator.getByRole('button', { name: 'Copy the link' }).waitFor()
    await operator.getByRole('row', { name: /Dora.*DJ.*All/ }).waitFor()

    const page = await openWithAuthenticator(openPage)
    await page.goto(link)
    await page.getByText('You are invited as: DJ.').waitFor()
    expect(await axeFindings(page, withoutMinor)).toEqual([])
    const email = anyEmail()
    await page.getByRole('main').getByLabel('Email address').fill(email)
    await page.getByRole('button', { name: 'Join with a passkey' }).click()
    await isSignedIn(page)
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Use a passkey' }).click()
    await isSignedIn(page)
    await page.getByRole('link', { name: 'Account' }).click()
    await page.getByText(email).waitFor()
    await page.getByRole('button', { name: 'Remove Passkey' }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('Set a password or add another passkey first.').waitFor()

    await page.goto(link)
    await page.reload()
    await page.getByText('This invitation is not valid').waitFor()
  }, 60_000)

  test('a passkey is added and removed, and a replayed response is refused', async ({
    program,
    openPage
  }) => {
    const { email } = await createUser(program)
    const page = await openWithAuthenticator(openPage)
    await page.goto(siteOf(program))
    await fillSignIn(page, email)
    await isSignedIn(page)
    await page.goto(`${siteOf(program)}/#/account`)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
    await page.getByText('Passkey added.').waitFor()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    const sent = page.waitForRequest(request => request.url().endsWith('/webauthn/login'))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Use a passkey' }).click()
    await isSignedIn(page)
    const body = (await sent).postDataJSON()
    const replayed = await call(program, 'POST', '/api/frontend/account/webauthn/login', { body })
    expect([replayed.status, replayed.setCookie]).toEqual([400, ''])
    await page.goto(`${siteOf(program)}/#/account`)
    await page.getByRole('button', { name: /^Remove / }).click()
    await page.getByRole('button', { name: 'Remove', exact: true }).click()
    await page.getByText('Passkey removed.').waitFor()
    const entries = await program.sql`
      select method, record_name as name from audit_log where record = 'Passkey' and key_name = ${email} order by id`
    const name = expect.stringMatching(/^Linux .+ \d/)
    expect(entries).toEqual(['PUT', 'DELETE'].map(method => ({ method, name })))
  })

  test('roles of a user and of the installation are changed', async ({ program, openPage }) => {
    const { email } = await createUser(program)
    const other = await createUser(program)
    const station = await call(program, 'POST', '/api/admin/stations', {
      key: adminKey,
      body: { name: 'Night FM' }
    })
    const dj = await roleId(program, 'DJ')
    const page = await openPage()
    await page.addInitScript(`sessionStorage['cuewire-key'] ??= '${adminKey}'`)
    page.setDefaultTimeout(12_000)
    await page.goto(`${siteOf(program)}/#/people`)
    await page.getByRole('button', { name: `Change ${other.email}` }).click()
    await page.getByRole('checkbox', { name: 'DJ' }).check()
    await page.getByLabel('Name', { exact: true }).fill('Robin')
    // What was chosen for one user is not in the form of another.
    await page.getByRole('button', { name: `Change ${email}` }).click()
    await page.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('heading', { name: email }).waitFor()
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Anna')
    expect(await page.getByRole('checkbox', { name: 'DJ' }).isChecked()).toBe(false)
    await page.getByRole('checkbox', { name: 'DJ' }).check()
    await page.getByLabel('New password (optional)').fill('short')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('must have at least 10 characters').waitFor()
    await page.getByLabel('New password (optional)').fill('a horse that is new')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Record updated successfully.').waitFor()
    await signIn(program, email, 'a horse that is new')
    const { body } = await call(program, 'GET', '/api/admin/users', { key: adminKey })
    const user = body.find((each: { email: string }) => each.email === email)
    expect(user.roles.map((role: { id: number }) => role.id)).toContain(dj)
    await page.getByRole('button', { name: 'New role' }).click()
    await page.getByLabel('Name', { exact: true }).fill('Night shift')
    await page.getByRole('checkbox', { name: 'See history, requests and listeners' }).check()
    await page.getByLabel('Add a station').selectOption('Night FM')
    await page.getByRole('group', { name: 'Night FM' }).getByLabel('As the role').selectOption('DJ')
    expect(await axeFindings(page, withoutMinor)).toEqual([])
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Role saved.').waitFor()
    await page.getByText('Night shift').click()
    await page.getByText(/^Night FM: /).waitFor()
    const roles = await call(program, 'GET', '/api/admin/roles', { key: adminKey })
    const made = roles.body.find((role: { name: string }) => role.name === 'Night shift')
    expect(made.permissions.station).toMatchObject([{ id: station.body.id }])
    expect(made.permissions.station[0].permissions.length).toBeGreaterThan(0)
  }, 60_000)

  test('forms of people and of the account ask before changes are lost', async ({ program, openPage }) => {
    const { email } = await createUser(program, { role: 'Administrator' })
    const page = await openPage()
    page.setDefaultTimeout(12_000)
    await page.goto(siteOf(program))
    await fillSignIn(page, email)
    await isSignedIn(page)
    const dialog = page.getByRole('dialog', { name: 'Discard the changes?' })
    const main = page.getByRole('main')
    const leave = () => page.evaluate(`location.hash = '#/system'`)
    const forms = [
      ['people/user-1', () => main.getByRole('checkbox', { name: 'Read-only' })],
      ['people/invitation-new', () => main.getByLabel('Name (optional)')],
      ['people/role-new', () => main.getByLabel('Name', { exact: true })],
      ['account', () => main.getByLabel('New password')]
    ] as const
    for (const [address, find] of forms) {
      await page.goto(`${siteOf(program)}/#/${address}`)
      const field = find()
      await field.waitFor()
      // A form without changes does not ask.
      await leave()
      await page.getByRole('heading', { name: 'System', level: 1 }).waitFor()
      await page.goBack()
      await field.waitFor()
      if (address === 'people/user-1') await field.check()
      else await field.fill('a new text')
      await leave()
      await dialog.getByRole('button', { name: 'Cancel' }).click()
      await page.waitForURL(`**/#/${address}`)
      if (address === 'people/user-1') expect(await field.isChecked()).toBe(true)
      else expect(await field.inputValue()).toBe('a new text')
      await leave()
      await dialog.getByRole('button', { name: 'Discard' }).click()
      await page.getByRole('heading', { name: 'System', level: 1 }).waitFor()
    }
  }, 60_000)

  test('changes of a form outlast the session, and are saved after signing in again', async ({
    program,
    openPage
  }) => {
    const { body: station } = await call(program, 'POST', '/api/admin/stations', {
      key: adminKey,
      body: { name: 'Draft FM' }
    })
    const read = async () =>
      (await call(program, 'GET', `/api/admin/station/${station.id}`, { key: adminKey })).body
    const { email } = await createUser(program, { role: 'Station manager', stations: [station.id] })
    const page = await openPage()
    page.setDefaultTimeout(12_000)
    await page.goto(siteOf(program))
    await fillSignIn(page, email)
    await isSignedIn(page)
    // A station manager changes the profile, not what administrators decide.
    await page.goto(`${siteOf(program)}/#/station/${station.id}/settings`)
    await page.getByLabel('Description').fill('A new text')
    expect(await page.getByLabel('Short name').count()).toBe(0)
    await page.context().clearCookies()
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('your changes are still here').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByLabel('Email address').fill(email)
    await dialog.getByLabel('Password').fill(password)
    await page.keyboard.press('Enter')
    await isSignedIn(page)
    expect(await page.getByLabel('Description').inputValue()).toBe('A new text')
    // Meanwhile, someone else changes the same field.
    const other = { description: 'Another text' }
    await call(program, 'PUT', `/api/admin/station/${station.id}`, { key: adminKey, body: other })
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('Description: the stored values are no longer those').waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await page.getByText('Not saved: someone changed Description meanwhile.').first().waitFor()
    expect((await read()).description).toBe('Another text')
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await dialog.getByRole('button', { name: 'Save anyway' }).click()
    await page.getByText('Saved.').waitFor()
    expect((await read()).description).toBe('A new text')
  }, 60_000)
})
