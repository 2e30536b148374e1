import { assert, array, constantFrom, property, string } from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  type StorageAdapter,
  locationIdentity,
  locationUri,
  normalizeStoragePath,
  type StorageLocation
} from '../../../../src/library/storage/location.ts'

const adapters: StorageAdapter[] = ['local', 's3', 'dropbox', 'sftp']
const bucket: Extract<StorageLocation, { adapter: 's3' }> = {
  adapter: 's3',
  path: 'station/media',
  bucket: 'radio',
  region: 'eu-west-1',
  endpoint: '',
  credentialKey: 'key',
  credentialSecret: 'very secret'
}
const server: StorageLocation = {
  adapter: 'sftp',
  path: '/srv/radio',
  host: 'Files.example.org',
  port: 0,
  username: 'dj',
  password: 'very secret',
  privateKey: '',
  privateKeyPassPhrase: ''
}

describe('a path becomes', () => {
  test.for([
    ['local', '/var//radio/./media/', '/var/radio/media'],
    ['local', '/var/radio/../media', '/var/media'],
    ['local', '/../../etc', '/etc'],
    ['local', '/', '/'],
    ['local', '/a b/ä…', '/a b/ä…'],
    ['local', 'radio', null],
    ['local', '', null],
    ['sftp', '/srv/radio/', '/srv/radio'],
    ['sftp', 'radio', null],
    ['s3', '', ''],
    ['s3', '/', ''],
    ['s3', '.', ''],
    ['s3', '//station//media/./x/../', 'station/media'],
    ['s3', 'a/..', ''],
    ['s3', 'a/../../b', null],
    ['dropbox', '/Apps/Radio/', 'Apps/Radio'],
    ['dropbox', '../x', null],
    ['s3', 'a\0b', null],
    ['local', '/a\nb', null],
    ['local', '/\uD800', null]
  ] as const)('%s %j: %j', ([adapter, path, normal]) => {
    expect(normalizeStoragePath(adapter, path)).toBe(normal)
  })
})

test('a path has at most 255 characters, counted in its canonical form', () => {
  expect(normalizeStoragePath('s3', `./${'x'.repeat(255)}/`)).toBe('x'.repeat(255))
  expect(normalizeStoragePath('s3', 'x'.repeat(256))).toBeNull()
})

test('normalizing a path twice changes nothing', () => {
  const part = constantFrom('a', 'b', '.', '..', '', ' ')
  assert(
    property(constantFrom(...adapters), array(part), string(), (adapter, parts, last) => {
      const normal = normalizeStoragePath(adapter, [...parts, last].join('/'))
      if (normal === null) return
      expect(normalizeStoragePath(adapter, normal)).toBe(normal)
      expect(normal.split('/')).not.toContain('..')
      expect(normal).not.toContain('//')
    })
  )
})

describe('the uri of', () => {
  test.for([
    ['a folder', { adapter: 'local', path: '/var/radio' }, '/var/radio'],
    ['a path in a bucket', bucket, 's3://radio/station/media'],
    ['a bucket', { ...bucket, path: '' }, 's3://radio'],
    [
      'a Dropbox',
      {
        adapter: 'dropbox',
        path: 'Radio',
        appKey: 'app1',
        appSecret: 'very secret',
        authToken: 'very secret'
      },
      'dropbox://app1/Radio'
    ],
    ['a server', server, 'sftp://dj@files.example.org/srv/radio'],
    ['a server on port 22', { ...server, port: 22 }, 'sftp://dj@files.example.org/srv/radio'],
    ['another port', { ...server, port: 2022, path: '/' }, 'sftp://dj@files.example.org:2022/'],
    ['an IPv6 address', { ...server, host: '::1', username: 'a@b' }, 'sftp://a%40b@[::1]/srv/radio']
  ] as const)('%s', ([, location, uri]) => {
    expect(locationUri(location)).toBe(uri)
  })
})

test('a bucket name at two endpoints is two places; slashes and capitals do not matter', () => {
  const at = (endpoint: string) => locationIdentity({ ...bucket, endpoint })
  expect(at('https://s3.example.org')).toBe(at('https://S3.example.org:443/'))
  expect(new Set([at(''), at('https://s3.example.org'), at('http://s3.example.org')]).size).toBe(3)
})
