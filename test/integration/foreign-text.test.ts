import { describe, expect } from 'vitest'

import { test } from '../support/fixtures.ts'
import { askPlainly } from '../support/plain-http.ts'
import { openPlayoutClient } from '../support/playout-client.ts'
import { adminKey, type Program } from '../support/program.ts'
import { sendRaw } from '../support/raw-http.ts'
import { isDeep } from '../support/tier.ts'
import { toneWav } from '../support/tone.ts'

const latin = (text: string) => Buffer.from(text, 'latin1')
const lost = '\uFFFD'

/**
 * The bytes of a title, the charset that is named for them, and the title. Half of them are tested in the quick tier.
 */
const allTitles = [
  ['windows-1252', null, latin('Caf\xE9 \x80'), 'Café €'],
  ['iso-8859-1', 'iso-8859-1', latin('Don\x92t'), 'Don’t'],
  ['koi8-r', 'KOI8-R', latin('\xEB\xC9\xCE\xCF'), 'Кино'],
  ['windows-1251', 'windows-1251', latin('\xCA\xE8\xED\xEE'), 'Кино'],
  ['shift_jis', 'Shift_JIS', latin('\x93\xFA\x96\x7B\x8C\xEA'), '日本語'],
  ['a charset that does not fit', 'shift_jis', latin('Caf\xE9'), 'Café'],
  ['U+FFFD', null, Buffer.from(`Caf${lost}`), 'Caf'],
  ['UTF-8, whatever is named', 'iso-8859-1', Buffer.from('Кино'), 'Кино']
] as const
const titles = allTitles.filter((_, index) => isDeep || index % 2 === 0)

const escaped = (bytes: Uint8Array) =>
  Array.from(bytes, byte => `%${byte.toString(16).padStart(2, '0')}`).join('')

const multipart = (fields: Readonly<Record<string, Uint8Array>>) =>
  Buffer.concat([
    ...Object.entries(fields).flatMap(([name, value]) => [
      Buffer.from(`--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`),
      value,
      Buffer.from('\r\n')
    ]),
    Buffer.from('--b--\r\n')
  ])

const newestTitle = async ({ sql }: Program, stationId: number): Promise<string> => {
  const [play] = await sql<{ title: string }[]>`
    select title from song_history where station_id = ${stationId} order by id desc limit 1`
  return play?.title ?? ''
}

async function send(
  { baseUrl }: Program,
  path: string,
  request: { method?: string; body?: Uint8Array; headers?: Record<string, string> } = {}
) {
  const response = await askPlainly(baseUrl + path, {
    method: request.method ?? 'POST',
    body: request.body,
    headers:
      request.headers?.['X-Liquidsoap-Api-Key'] === undefined
        ? { 'X-API-Key': adminKey, ...request.headers }
        : request.headers
  })
  const text = response.body.toString()
  return { status: response.status, body: text === '' ? null : JSON.parse(text) }
}

const type = (name: string, charset: string | null) => ({
  'Content-Type': charset === null ? name : `${name}; charset=${charset}`
})

async function openStation(program: Program): Promise<number> {
  const playout = await openPlayoutClient(program, {}, { backend: 'none' })
  return playout.id
}

test.for(titles)(
  'the title of a broadcaster is decoded: %s',
  async ([, charset, bytes, expected], { program }) => {
    const id = await openStation(program)
    const path = `/api/station/${id}/nowplaying/update`
    const named = charset === null ? '' : `&charset=${charset}`
    const requests = {
      'query of GET': [`${path}?title=${escaped(bytes)}${named}`, { method: 'GET' }],
      'query of POST': [`${path}?title=${escaped(bytes)}${named}`, {}],
      'escaped form': [
        path,
        {
          body: latin(`title=${escaped(bytes)}${named}`),
          headers: type('application/x-www-form-urlencoded', null)
        }
      ],
      form: [
        path,
        {
          body: Buffer.concat([latin('title='), bytes]),
          headers: type('application/x-www-form-urlencoded', charset)
        }
      ],
      'multipart form': [
        path,
        {
          body: multipart({ title: bytes, ...(charset === null ? {} : { charset: Buffer.from(charset) }) }),
          headers: type('multipart/form-data; boundary=b', null)
        }
      ],
      JSON: [
        path,
        {
          body: Buffer.concat([latin('{"title":"'), bytes, latin('"}')]),
          headers: type('application/json', charset)
        }
      ],
      'JSON that names it': [
        path,
        {
          body: Buffer.concat([
            latin('{"title":"'),
            bytes,
            latin(charset === null ? '"}' : `","a":{"charset":"utf-16"},"_charset_": "${charset}"}`)
          ]),
          headers: type('application/json', null)
        }
      ]
    } as const
    for (const [name, [url, request]] of Object.entries(requests)) {
      await program.sql`delete from song_history where station_id = ${id}`
      const { status } = await send(program, url, request)
      expect({ name, status, title: await newestTitle(program, id) }).toEqual({
        name,
        status: 200,
        title: expected
      })
    }
  }
)

test('bytes in a request line that are not escaped lose only what is not UTF-8', async ({ program }) => {
  const id = await openStation(program)
  const head = `GET /api/station/${id}/nowplaying/update?title=Caf\xE9 HTTP/1.1\r\nHost: a\r\nX-API-Key: ${adminKey}\r\n\r\n`
  expect((await sendRaw(program.baseUrl, latin(head))).status).toBe(200)
  expect(await newestTitle(program, id)).toBe('Caf')
})

test.for(titles)(
  'the title of a streamer is decoded as Liquidsoap sends it: %s',
  async ([, charset, bytes, expected], { program }) => {
    const playout = await openPlayoutClient(program, { songMs: 200_000 })
    const path = `/api/internal/${playout.id}/liquidsoap/feedback`
    const key = { 'X-Liquidsoap-Api-Key': playout.key }
    const requests = [
      [
        path,
        {
          body: Buffer.concat([Buffer.from('{"artist":"Сплин","title":"'), bytes, latin('"}')]),
          headers: { ...key, ...type('application/json', charset) }
        }
      ],
      [
        path,
        {
          body: Buffer.concat([latin('title='), bytes]),
          headers: { ...key, ...type('application/x-www-form-urlencoded', charset) }
        }
      ],
      [
        `${path}?title=${escaped(bytes)}${charset === null ? '' : `&charset=${charset}`}`,
        { method: 'GET', headers: key }
      ]
    ] as const
    for (const [url, request] of requests) {
      await program.sql`delete from song_history where station_id = ${playout.id}`
      expect(await send(program, url, request)).toEqual({ status: 200, body: true })
      expect(await newestTitle(program, playout.id)).toBe(expected)
    }
  }
)

describe('a path of an upload', () => {
  const audio = toneWav([0.1])
  const form = (name: Uint8Array) =>
    Buffer.concat([
      Buffer.from('--b\r\nContent-Disposition: form-data; name="file"; filename="'),
      name,
      Buffer.from('"\r\n\r\n'),
      audio,
      Buffer.from('\r\n--b--\r\n')
    ])
  const pathsOf = async ({ sql }: Program, id: number) =>
    (await sql<{ path: string }[]>`select path from media where station_id = ${id} order by id`).map(
      ({ path }) => path.replace(/^.*\//, '')
    )

  test('is decoded, and refused with U+FFFD', async ({ program }) => {
    const { body: station } = await program.ask('POST', '/api/admin/stations', {
      body: { name: 'Foreign', short_name: 'foreign_uploads' }
    })
    const files = `/api/station/${station.id}/files`
    const multipartType = type('multipart/form-data; boundary=b', null)
    const inForm = await send(program, files, { body: form(latin('caf\xE9.wav')), headers: multipartType })
    expect(inForm.status).toBe(200)
    const json = latin(`{"path":"na\xEFve.wav","file":"${audio.toString('base64')}"}`)
    expect((await send(program, files, { body: json, headers: type('application/json', null) })).status).toBe(
      200
    )
    const metadata = `filename ${latin('ol\xE9.wav').toString('base64')}`
    const tus = await askPlainly(`${program.baseUrl}${files}/uploads`, {
      method: 'POST',
      headers: {
        'X-API-Key': adminKey,
        'Tus-Resumable': '1.0.0',
        'Upload-Length': String(audio.length),
        'Upload-Metadata': metadata
      }
    })
    expect(tus.status).toBe(201)
    const uploads = await program.sql`select path from uploads where station_id = ${station.id}`
    expect(uploads).toContainEqual({ path: 'olé.wav' })
    expect(await pathsOf(program, station.id)).toEqual(['café.wav', 'naïve.wav'])
    const refused = await send(program, files, {
      body: form(Buffer.from(`caf${lost}.wav`)),
      headers: multipartType
    })
    expect(refused).toMatchObject({ status: 400, body: { extra_data: { errors: [{ field: 'file' }] } } })
  })
})

test('a search is decoded', async ({ program }) => {
  const id = await openStation(program)
  const [song] = await program.sql<
    { id: number }[]
  >`select id from media where station_id = ${id} order by id limit 1`
  await program.sql`update media set title = 'Café' where id = ${song?.id ?? 0}`
  for (const phrase of ['caf%E9', 'caf%C3%A9']) {
    const { body } = await send(program, `/api/station/${id}/files/list?searchPhrase=${phrase}`, {
      method: 'GET'
    })
    expect(body.rows ?? body).toHaveLength(1)
    const files = await send(program, `/api/station/${id}/files?searchPhrase=${phrase}&per_page=10`, {
      method: 'GET'
    })
    expect(files.body.rows ?? files.body).toHaveLength(1)
  }
})

test('a playlist file is decoded', async ({ program }) => {
  const id = await openStation(program)
  await program.sql`
    update media set path = 'café.mp3' where id = (select min(id) from media where station_id = ${id})`
  const { body: playlist } = await program.ask('POST', `/api/station/${id}/playlists`, {
    body: { name: 'Café' }
  })
  const wide = Buffer.from('\uFEFF#EXTM3U\ncafé.mp3\n', 'utf16le')
  const lists = [
    latin('#EXTM3U\ncaf\xE9.mp3\n'),
    wide,
    wide.subarray(2),
    Buffer.from(wide).swap16().subarray(2)
  ]
  for (const list of lists) {
    const { status, body } = await send(program, `/api/station/${id}/playlist/${playlist.id}/import`, {
      body: list,
      headers: type('text/plain', null)
    })
    expect(status).toBe(200)
    expect(body.import_results).toMatchObject([{ path: 'café.mp3', match: expect.any(Number) }])
  }
})

test('a playlist file in a form is decoded in the charset that the part, a field or the query names', async ({
  program
}) => {
  const id = await openStation(program)
  await program.sql`
    update media set path = 'Кино.mp3' where id = (select min(id) from media where station_id = ${id})`
  const { body: playlist } = await program.ask('POST', `/api/station/${id}/playlists`, {
    body: { name: 'Кино' }
  })
  const part = (charset: string, before = '') =>
    Buffer.concat([
      latin(
        `--b\r\n${before}Content-Disposition: form-data; name="file"; filename="a.m3u"\r\n` +
          `Content-Type: audio/x-mpegurl${charset}\r\n\r\n#EXTM3U\n`
      ),
      Buffer.from('Ж.mp3\n'),
      latin('\xEB\xC9\xCE\xCF.mp3\r\n--b--\r\n')
    ])
  const field = 'Content-Disposition: form-data; name="charset"\r\n\r\nkoi8-r\r\n--b\r\n'
  for (const [query, body] of [
    ['', part('; charset=koi8-r')],
    ['', part('', field)],
    ['?charset=koi8-r', part('; charset=utf-8')]
  ] as const) {
    const response = await send(program, `/api/station/${id}/playlist/${playlist.id}/import${query}`, {
      body,
      headers: type('multipart/form-data; boundary=b', null)
    })
    expect(response.status).toBe(200)
    expect(response.body.import_results).toMatchObject([
      { path: 'Ж.mp3', match: null },
      { path: 'Кино.mp3', match: expect.any(Number) }
    ])
  }
})

test('a part of a form is decoded in the charset that it names', async ({ program }) => {
  const id = await openStation(program)
  const body = latin(
    '--b\r\nContent-Disposition: form-data; name="title"\r\n' +
      'Content-Type: text/plain;charset=windows-1251\r\n\r\n\xCF\xF0\r\n--b--\r\n'
  )
  const headers = type('multipart/form-data; boundary=b', null)
  expect((await send(program, `/api/station/${id}/nowplaying/update`, { body, headers })).status).toBe(200)
  expect(await newestTitle(program, id)).toBe('Пр')
})

test('a field with U+FFFD is refused', async ({ program }) => {
  const id = await openStation(program)
  const response = await program.ask('POST', `/api/station/${id}/playlists`, { body: { name: `Caf${lost}` } })
  expect(response.status).toBe(400)
  expect(response.body.message).toContain('U+FFFD')
  expect(response.body.extra_data.errors).toMatchObject([{ field: 'name' }])
})
