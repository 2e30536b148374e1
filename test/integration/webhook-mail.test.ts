import { BlockList } from 'node:net'

import { describe, expect, test } from 'vitest'

import { openMailer } from '../../src/webhooks/deliveries/mailer.ts'
import { type SendDeps, sendDelivery } from '../../src/webhooks/deliveries/send.ts'
import type { DeliveryContent } from '../../src/webhooks/types/delivery-content.ts'
import { startMailServer } from '../support/mail-server.ts'

const sending: Extract<DeliveryContent, { kind: 'mail' }> = {
  kind: 'mail',
  mail: {
    to: ['dj@example.com', 'office@example.com'],
    subject: 'Für Elise läuft',
    text: 'Für Elise\n.\nBeethoven 🎹'
  }
}

const partsFor = (url: string): SendDeps => ({
  allowed: new BlockList(),
  mailer: openMailer(url, 'radio@example.com')
})

describe('a mail', () => {
  test('is one message to all recipients, with the same message id in every attempt', async () => {
    await using server = await startMailServer()
    const first = await sendDelivery(sending, 'evt_1', [], partsFor(server.url))
    await sendDelivery(sending, 'evt_1', [], partsFor(server.url))
    expect(first).toMatchObject({ status: 250, fault: null, url: 'mailto:' })
    expect(server.received).toHaveLength(2)
    const [mail] = server.received
    expect(mail).toMatchObject({ from: 'radio@example.com', to: sending.mail.to })
    expect(mail?.text).toContain('Message-ID: <evt_1@example.com>')
    expect(mail?.text).toMatch(/^Subject: =\?UTF-8\?Q\?F=C3=BCr_Elise_l=C3=A4uft\?=\r$/m)
    expect(mail?.text).toContain('Auto-Submitted: auto-generated')
    expect(mail?.text).toContain('To: dj@example.com, office@example.com')
    expect(server.received[1]?.text.match(/Message-ID: .*/)?.[0]).toBe(
      mail?.text.match(/Message-ID: .*/)?.[0]
    )
  })

  test('that is refused is stored with the answer of the server', async () => {
    await using server = await startMailServer({
      onRcptTo: (_, __, done) => done(Object.assign(new Error('no such mailbox'), { responseCode: 550 }))
    })
    const attempted = await sendDelivery(sending, 'evt_1', [], partsFor(server.url))
    expect(attempted).toMatchObject({ fault: 'mail', status: 550 })
    expect(attempted.response).toContain('no such mailbox')
    expect(server.received).toEqual([])
  })

  test('is sent with user and password, which are not in the result', async () => {
    await using server = await startMailServer({
      authOptional: false,
      onAuth: ({ username, password }, _, done) =>
        username === 'radio' && password === 'p@ss word'
          ? done(null, { user: username })
          : done(new Error(`not ${password}`))
    })
    const good = server.url.replace('//', `//radio:${encodeURIComponent('p@ss word')}@`)
    expect(await sendDelivery(sending, 'evt_1', [], partsFor(good))).toMatchObject({ fault: null })
    const bad = server.url.replace('//', '//radio:wrong@')
    const attempted = await sendDelivery(sending, 'evt_1', [], partsFor(bad))
    expect(attempted.fault).toBe('mail')
    expect(attempted.response).not.toContain('radio:')
  })

  test('whose server is unreachable or does not answer fails within the timeout', async () => {
    const server = await startMailServer()
    await server[Symbol.asyncDispose]()
    expect(await sendDelivery(sending, 'evt_1', [], partsFor(server.url))).toMatchObject({
      fault: 'mail',
      status: 0
    })
    await using silent = await startMailServer({ onConnect: () => {} })
    const mailer = openMailer(silent.url, 'radio@example.com')
    await expect(mailer.send(sending.mail, 'evt_1', 500)).rejects.toThrow(/closed|timeout|greeting/i)
  })

  test('fails without a configured server', async () => {
    expect(
      await sendDelivery(sending, 'evt_1', [], { allowed: new BlockList(), mailer: null })
    ).toMatchObject({
      fault: 'config',
      response: expect.stringContaining('SMTP_URL')
    })
  })
})
