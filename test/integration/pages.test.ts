import { expect } from 'vitest'

import { aMount } from '../support/builders.ts'
import { test } from '../support/fixtures.ts'
import type { Stage } from '../support/live-stage.ts'
import { askPlainly, type PlainResponse } from '../support/plain-http.ts'
import { waitFor } from '../support/wait.ts'

const hostile = `</script><b onclick="x">"Rock & Roll" 'n' 👩‍🚀\r\nFile9=http://evil.example/`
const escaped =
  '&#60;/script&#62;&#60;b onclick=&#34;x&#34;&#62;&#34;Rock &#38; Roll&#34; &#39;n&#39; 👩‍🚀\r\nFile9=http://evil.example/'

const ask = (stage: Stage, path: string, headers: Readonly<Record<string, string>> = {}) =>
  askPlainly(stage.baseUrl + path, { headers })

const withoutDates = ({ 'x-request-id': _id, date: _date, ...headers }: PlainResponse['headers']) => headers

/** The addresses in a page that a browser loads. */
const listLoads = ({ body }: PlainResponse) =>
  [...body.toString().matchAll(/<(?:script|link|img|iframe)[^>]* (?:src|href)="([^"]+)"/g)].map(
    ([, address = '']) => address.replaceAll('&#38;', '&')
  )

test('a page loads only files of its own server, which may be cached forever', async ({ stage }) => {
  const station = await stage.put()
  const address = `${stage.baseUrl}/public/${station.shortName}`
  for (const rest of ['', '/embed', '/widgets']) {
    const page = await askPlainly(address + rest)
    expect(page.status).toBe(200)
    expect(page.headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-cache',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff'
    })
    expect(page.headers).not.toHaveProperty('set-cookie')
    // Each response contains the time.
    expect(page.headers).not.toHaveProperty('etag')
    const text = page.body.toString()
    expect(text).not.toMatch(/<style|<[^>]+ (style|on\w+)=|<script(?![^>]* (src|type="application\/json"))/)
    const files = listLoads(page).filter(each => each.includes('assets/'))
    expect(files.length).toBeGreaterThan(3)
    for (const file of files) {
      const { status, headers } = await askPlainly(new URL(file, address + rest).href)
      expect([file, status, headers['cache-control']]).toEqual([
        file,
        200,
        'public, max-age=31536000, immutable'
      ])
    }
  }
})

test('policies are strict, and only the embed page may be framed', async ({ stage }) => {
  const remote = {
    id: 3,
    name: 'North',
    url: 'https://north.example.net:8443/harbour',
    bitrate: 64,
    format: 'aac'
  }
  const odd = { ...remote, id: 4, url: 'javascript:alert(1)' }
  const station = await stage.put({ profile: { mounts: [aMount(1)], remotes: [remote, odd] } })
  const policyOf = async (rest: string) =>
    String((await ask(stage, `/public/${station.shortName}${rest}`)).headers['content-security-policy'])
  const { origin } = new URL(`http://localhost:${new URL(stage.baseUrl).port}`)
  expect((await policyOf('')).split('; ')).toEqual([
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "font-src 'self'",
    `img-src 'self' ${origin}`,
    `media-src 'self' ${origin} https://north.example.net:8443 blob:`,
    `connect-src 'self' ${origin} ${origin.replace('http', 'ws')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    'trusted-types lit-html'
  ])
  expect(await policyOf('/embed')).toContain('frame-ancestors *')
  expect(await policyOf('/widgets')).toContain("frame-ancestors 'none'")
})

test('a request for another version of a file returns the current one, which must not be cached', async ({
  stage
}) => {
  const { status, headers } = await ask(stage, '/assets/player-AAAAAAAA.js')
  expect([status, headers['content-type'], headers['cache-control']]).toEqual([
    200,
    'text/javascript; charset=utf-8',
    'no-cache'
  ])
})

test.for(['br', 'gzip'])(
  'with %s the client is below 6 KB, the widget below 20 KB and the player below 30 KB',
  async (coding, { stage }) => {
    const sizeOf = async (path: string) => (await ask(stage, path, { 'accept-encoding': coding })).body.length
    expect(await sizeOf('/widget.js')).toBeLessThan(20 * 1024)
    expect(await sizeOf('/client.js')).toBeLessThan(6 * 1024)
    expect(await sizeOf('/assets/player-AAAAAAAA.js')).toBeLessThan(30 * 1024)
  }
)

test('any title is escaped in pages', async ({ stage }) => {
  const station = await stage.put({ profile: { name: hostile, description: hostile } })
  await station.play(hostile)
  const read = async () => {
    const { body } = await ask(stage, `/public/${station.shortName}`)
    return body.includes('"offset":2') && body.toString()
  }
  const text = await waitFor(read, { deadlineMs: 20_000, what: 'the song' })
  expect(text).toContain(`<meta property="og:title" content="${escaped}" />`)
  expect(text).toContain(`content="Now playing: Nils Okada - ${escaped}. ${escaped}"`)
  expect(text).not.toContain('<b ')
  const [, json = ''] = /<script type="application\/json" id="shown">([^<]*)<\/script>/.exec(text) ?? []
  expect(JSON.parse(json)).toMatchObject({
    epoch: 'e1',
    offset: 2,
    np: { now_playing: { song: { title: hostile } } }
  })
  const gallery = await ask(stage, `/public/${station.shortName}/widgets`)
  expect(gallery.body.toString()).not.toContain('<b ')
})

test('playlist files have the streams, the default one first, each in one line', async ({ stage }) => {
  const remote = { id: 3, name: hostile, url: 'https://north.example.net/a b', bitrate: 64, format: 'aac' }
  const station = await stage.put({
    profile: {
      name: 'Harbour\nFM',
      mounts: [
        aMount(1, { displayName: 'Low', isDefault: false }),
        aMount(2, { displayName: 'High', isDefault: true })
      ],
      remotes: [remote]
    }
  })
  const base = `http://localhost:${new URL(stage.baseUrl).port}/listen/${station.shortName}`
  const pls = await ask(stage, `/public/${station.shortName}/playlist.pls`)
  expect(pls.headers).toMatchObject({
    'content-type': 'audio/x-scpls',
    'content-disposition': `attachment; filename="${station.shortName}.pls"`
  })
  const line = hostile.replace('\r\n', ' ')
  expect(pls.body.toString().split('\n')).toEqual([
    '[playlist]',
    `File1=${base}/2.mp3`,
    'Title1=Harbour FM - High',
    'Length1=-1',
    `File2=${base}/1.mp3`,
    'Title2=Harbour FM - Low',
    'Length2=-1',
    'File3=https://north.example.net/a b',
    `Title3=Harbour FM - ${line}`,
    'Length3=-1',
    'NumberOfEntries=3',
    'Version=2',
    ''
  ])
  const m3u = await ask(stage, `/public/${station.id}/playlist.m3u`)
  expect(m3u.headers['content-type']).toBe('audio/x-mpegurl')
  expect(m3u.body.toString().split('\n').slice(0, 3)).toEqual([
    '#EXTM3U',
    '#EXTINF:-1,Harbour FM - High',
    `${base}/2.mp3`
  ])
})

test('playlist files have the HLS stream first or last, as the station is configured', async ({ stage }) => {
  const first = await stage.put({
    profile: { mounts: [aMount(1, { displayName: 'Low' })], hlsEnabled: true, hlsIsDefault: true }
  })
  const last = await stage.put({ profile: { mounts: [aMount(1, { displayName: 'Low' })], hlsEnabled: true } })
  const only = await stage.put({ profile: { mounts: [], hlsEnabled: true } })
  const titlesOf = async ({ shortName }: typeof only) => {
    const { body } = await ask(stage, `/public/${shortName}/playlist.pls`)
    return [...body.toString().matchAll(/^Title\d=.* - (.*)$/gm)].map(([, title]) => title)
  }
  expect(await titlesOf(first)).toEqual(['HLS', 'Low'])
  expect(await titlesOf(last)).toEqual(['Low', 'HLS'])
  expect(await titlesOf(only)).toEqual(['HLS'])
  const { body } = await ask(stage, `/public/${only.shortName}/playlist.m3u`)
  expect(body.toString()).toMatch(/\/live\.m3u8$/m)
})

test('slightly wrong addresses redirect to the page, with their query and behind any path', async ({
  stage
}) => {
  for (const [path, place] of [
    ['/public', '/'],
    ['/public/', '/'],
    ['/public/demo/', '/public/demo'],
    ['/public/demo/embed/?size=full', '/public/demo/embed?size=full'],
    ['/public/demo/widgets/?api_key=a%3Ab', '/public/demo/widgets?api_key=a%3Ab'],
    ['/public/DEMO?api_key=a%3Ab', '/public/demo?api_key=a%3Ab'],
    ['/public/Demo/embed', '/public/demo/embed'],
    ['/public/%2F%2Fevil.example/', '/public/%2F%2Fevil.example']
  ]) {
    const { status, headers } = await ask(stage, String(path))
    // As behind a proxy that adds a path.
    const target = new URL(String(headers.location), `https://example.com/radio${path}`).href
    expect([path, status, target]).toEqual([path, 302, `https://example.com/radio${place}`])
  }
  const missing = await ask(stage, '/public/demo/nothing')
  expect([missing.status, missing.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8'])
  const icon = await ask(stage, '/favicon.ico')
  expect([icon.status, icon.headers['content-type']]).toEqual([200, 'image/svg+xml'])
})

test('a private station without a key is answered like an unknown one', async ({ stage }) => {
  const station = await stage.put({ profile: { isPublic: false, mounts: [aMount(1)] } })
  const { key, revoke } = await stage.makeKey()
  for (const rest of ['', '/embed', '/widgets', '/playlist.pls', '/playlist.m3u']) {
    const hidden = await ask(stage, `/public/${station.shortName}${rest}`)
    const wrong = await ask(stage, `/public/${station.shortName}${rest}?api_key=wrong`)
    const unknown = await ask(stage, `/public/nobody${rest}`)
    expect(unknown.status).toBe(404)
    for (const response of [hidden, wrong]) {
      expect([response.status, response.body.toString()]).toEqual([404, unknown.body.toString()])
      expect(withoutDates(response.headers)).toEqual(withoutDates(unknown.headers))
    }
  }
  const shown = await ask(stage, `/public/${station.shortName}?api_key=${key}`)
  expect([shown.status, shown.headers['cache-control']]).toEqual([200, 'private, no-store'])
  const text = shown.body.toString()
  // The default cover is public and needs no key.
  expect(text).toMatch(/<img alt="" src="[^"?]*generic_song\.jpg"/)
  expect(text).toContain('<meta name="robots" content="noindex" />')
  expect(text).not.toContain('og:')
  expect(text).toContain(`?api_key=${encodeURIComponent(key)}`)
  const list = await ask(stage, `/public/${station.shortName}/playlist.m3u?api_key=${key}`)
  expect([list.status, list.headers['cache-control']]).toEqual([200, 'private, no-store'])
  expect((await ask(stage, `/public/${station.shortName}/widgets?api_key=${key}`)).status).toBe(404)
  await revoke()
})

test('oEmbed returns a frame for the address of a public player, within the requested size', async ({
  stage
}) => {
  const station = await stage.put({ profile: { name: 'Harbour "FM"' } })
  const hidden = await stage.put({ profile: { isPublic: false } })
  const base = `http://localhost:${new URL(stage.baseUrl).port}`
  const oembed = async (url: string, rest = '') =>
    stage.server.ask('GET', `/oembed?url=${encodeURIComponent(url)}${rest}`, { key: '' })
  const url = `${base}/public/${station.shortName}`
  const { status, body, headers } = await oembed(url)
  expect([status, headers.get('x-content-type-options')]).toEqual([200, 'nosniff'])
  expect(body).toMatchObject({
    version: '1.0',
    type: 'rich',
    title: 'Harbour "FM"',
    width: 480,
    height: 100,
    thumbnail_width: 600,
    html: `<iframe src="${url}/embed?size=card" width="480" height="100" title="Harbour &#34;FM&#34;" style="box-sizing: border-box; max-width: 100%; border: 1px solid #8884; border-radius: 12px" loading="lazy"></iframe>`
  })
  expect((await oembed(`${url}/embed?size=full`)).status).toBe(200)
  expect((await oembed(url.replace('http://localhost', 'HTTP://LOCALHOST'))).status).toBe(200)
  // Under another name of the server.
  expect((await oembed(url.replace('localhost', '127.0.0.1'))).status).toBe(200)
  for (const [requested, width, height] of [
    ['&maxwidth=300&maxheight=60', 300, 42],
    ['&maxwidth=100&maxheight=20', 100, 20]
  ] as const) {
    const small = await oembed(url, requested)
    expect(small.body).toMatchObject({ width, height })
    expect(small.body.html).toContain(`width="${width}" height="${height}"`)
    expect(small.body).not.toHaveProperty('thumbnail_url')
  }
  for (const other of [
    `https://evil.example/public/${station.shortName}`,
    `${base}/public/nobody`,
    '',
    `${base}/public/%ff`
  ])
    expect((await oembed(other)).status).toBe(404)
  expect((await oembed(`${base}/public/${hidden.shortName}`)).status).toBe(404)
  expect((await oembed(url, '&format=xml')).status).toBe(501)
})
