import { describe, expect, test } from 'vitest'

import { compileRoutePaths } from '../../../src/http/paths.ts'
import type { Route } from '../../../src/http/route.ts'

const route = (method: Route['method'], path: string): Route => ({
  method,
  path,
  access: 'public'
})

const match = compileRoutePaths([
  route('GET', '/api/station/:station_id/queue'),
  route('GET', '/api/station/:station_id/queue/:id'),
  route('DELETE', '/api/station/:station_id/queue/:id'),
  route('POST', '/api/station/:station_id/queue/clear'),
  route('GET', '/api/nowplaying'),
  route('GET', '/api/:anything/deep/:id'),
  route('GET', '/static/:id'),
  route('GET', '/static/:id.txt'),
  route('GET', '/static/:id.tar.gz'),
  route('GET', '/static/:id.gz')
])

function found(path: string) {
  const result = match(path)
  return result === null
    ? null
    : { path: [...result.methods.values()][0]?.path, params: result.params, allow: result.allow }
}

describe('a path', () => {
  test('with parameters returns them decoded', () => {
    expect(found('/api/station/a%2Fb%C3%A9/queue')).toEqual({
      path: '/api/station/:station_id/queue',
      params: { station_id: 'a/bé' },
      allow: 'GET, HEAD, OPTIONS'
    })
  })

  test.each([
    ['/static/a.txt', '/static/:id.txt', 'a'],
    ['/static/a.b.txt', '/static/:id.txt', 'a.b'],
    ['/static/a.tar.gz', '/static/:id.tar.gz', 'a'],
    ['/static/a.gz', '/static/:id.gz', 'a'],
    ['/static/.txt', '/static/:id', '.txt'],
    ['/static/a%2Etxt', '/static/:id', 'a.txt'],
    ['/static/atxt', '/static/:id', 'atxt']
  ])('%s goes to %s', (path, wanted, id) => {
    expect(found(path)).toMatchObject({ path: wanted, params: { id } })
  })

  test('with an escaped slash does not become another route', () => {
    expect(found('/api/station/1%2Fqueue')).toBeNull()
    expect(found('/api/station/1/queue%2F2')).toBeNull()
  })

  test('prefers the literal segment, and falls back to the parameter', () => {
    expect(found('/api/station/1/queue/clear')).toMatchObject({ allow: 'POST, OPTIONS' })
    expect(found('/api/station/1/queue/7')).toMatchObject({
      params: { station_id: '1', id: '7' },
      allow: 'GET, HEAD, DELETE, OPTIONS'
    })
    expect(found('/api/nowplaying/deep/9')).toMatchObject({ params: { anything: 'nowplaying', id: '9' } })
  })

  test('may have escapes of any encoding', () => {
    expect(found('/api/station/caf%C3%A9/queue')).toMatchObject({ params: { station_id: 'café' } })
    expect(found('/api/station/caf%e9/queue')).toMatchObject({ params: { station_id: 'café' } })
  })

  test.each([
    '/',
    '',
    '/api',
    '/api/nowplaying/',
    '//api/nowplaying',
    '/api/station//queue',
    '/api/station/%zz/queue',
    '/API/nowplaying',
    '/__proto__',
    '/constructor'
  ])('%s is unknown', path => {
    expect(found(path)).toBeNull()
  })
})

test('the same method and path twice is refused', () => {
  const twice = [route('GET', '/a/:id'), route('GET', '/a/:id')]
  expect(() => compileRoutePaths(twice)).toThrow('GET /a/:id is declared twice')
})
