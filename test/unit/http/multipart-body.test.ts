import { setImmediate } from 'node:timers/promises'

import { describe, expect, test } from 'vitest'

import { parseMultipartForm } from '../../../src/http/form-body.ts'
import { readMultipartForm } from '../../../src/http/multipart-body.ts'
import { ApiError } from '../../../src/platform/runtime/errors.ts'

test('a file that is refused before it has arrived does not end the process', async () => {
  const head = '--b\r\nContent-Disposition: form-data; name="other"; filename="a.mp3"\r\n\r\n'
  const pieces = [head, 'x'.repeat(1_000), 'x'.repeat(1_000), '\r\n--b--\r\n'].map(text => Buffer.from(text))
  const stream = {
    size: null,
    nameIgnored: () => {},
    // The refusal precedes the rest of the file.
    read: async () => {
      await setImmediate()
      return pieces.shift() ?? null
    }
  }
  const refusal = new ApiError('invalid', 'other is not the field of the file.')
  const reading = readMultipartForm(stream, 'multipart/form-data; boundary=b', () => Promise.reject(refusal))
  await expect(reading).rejects.toBe(refusal)
  expect(pieces.length).toBeGreaterThan(0)
  // An error event without a listener is thrown in a later turn, which Vitest reports.
  await setImmediate()
})

describe('a part is UTF-8, else in the charset that it names, else windows-1252', () => {
  const parse = (part: string, charset: string | null = null) =>
    parseMultipartForm(
      Buffer.from(`--b\r\n${part}\r\n--b--\r\n`, 'latin1'),
      'multipart/form-data; boundary=b',
      {
        charset
      }
    )
  const utf8 = Buffer.from('Кино').toString('latin1')

  test.for([
    ['windows-1251', '\xCF\xF0', 'Пр'],
    ['Windows-1251', '\xCF\xF0', 'Пр'],
    ['"koi8-r"', '\xEB\xC9\xCE\xCF', 'Кино'],
    ['windows-1251', utf8, 'Кино'],
    ['utf-16le', utf8, 'Кино'],
    ['utf-16le', '\x1A\x04\x38\x04', 'Ки'],
    ['base64', 'Title', 'Title'],
    ['utf-8', 'Caf\xE9', 'Café'],
    ['shift_jis', 'Caf\xE9!', 'Café!'],
    ['unknown', 'Caf\xE9', 'Café'],
    ['windows-1252', '\x93a\x94', '“a”']
  ] as const)('%s: %j', async ([charset, bytes, text]) => {
    const head = `Content-Disposition: form-data; name="title"\r\nContent-Type: text/plain; charset=${charset}`
    expect((await parse(`${head}\r\n\r\n${bytes}`)).fields).toEqual([['title', text]])
  })

  test('the charset of the form is that of parts that claim UTF-8', async () => {
    const head = 'Content-Disposition: form-data; name="title"\r\nContent-Type: text/plain; charset=UTF-8'
    expect((await parse(`${head}\r\n\r\n\xCF\xF0`, 'windows-1251')).fields).toEqual([['title', 'Пр']])
  })

  test.for([
    ["windows-1251''%CF%F0.mp3", 'Пр.mp3'],
    ["UTF-8''%D0%9A.mp3", 'К.mp3'],
    ["UTF-8''Caf%E9.mp3", 'Café.mp3'],
    ["unknown''Caf%E9.mp3", 'Café.mp3']
  ] as const)('the name of a file: %s', async ([sent, name]) => {
    const names: string[] = []
    const pieces = [
      Buffer.from(
        `--b\r\nContent-Disposition: form-data; name="file"; filename*=${sent}\r\n\r\nx\r\n--b--\r\n`,
        'latin1'
      )
    ]
    const stream = { size: null, nameIgnored: () => {}, read: async () => pieces.shift() ?? null }
    await readMultipartForm(stream, 'multipart/form-data; boundary=b', async part => {
      names.push(part.name)
      for await (const _ of part.pieces);
    })
    expect(names).toEqual([name])
  })

  test('the charset of a file is that of its part, else that of a field', async () => {
    const head =
      'Content-Disposition: form-data; name="file"; filename="a.m3u"\r\nContent-Type: audio/x-mpegurl'
    expect(await parse(`${head}; charset=koi8-r\r\n\r\nx`)).toMatchObject({ charset: 'koi8-r' })
    const field = 'Content-Disposition: form-data; name="charset"\r\n\r\nwindows-1251'
    expect(await parse(`${field}\r\n--b\r\n${head}\r\n\r\nx`)).toMatchObject({ charset: 'windows-1251' })
    expect(await parse(`${head}\r\n\r\nx`, 'cp1251')).toMatchObject({ charset: 'cp1251' })
    expect(await parse(`${head}\r\n\r\nx`)).toMatchObject({ charset: null })
  })
})
