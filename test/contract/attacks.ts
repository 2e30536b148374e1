import { sized } from '../support/tier.ts'
import type { Body } from './table.ts'

/** A body as it is sent, with its content type. */
export interface Attack {
  readonly name: string
  readonly bytes: string | Uint8Array<ArrayBuffer>
  readonly contentType?: string
  readonly statuses: readonly number[]
}

const bytesOf = (text: string) => Uint8Array.from(Buffer.from(text, 'latin1'))
const deep = (open: string, close: string, inner: string) =>
  open.repeat(10_000) + inner + close.repeat(10_000)

/** Above the limit of bodies; every route gets them. */
const largeMb = sized({ quick: 2, deep: 10 })
const largeBytes = largeMb * 1024 * 1024

/** Bodies that every write must refuse. */
export const refusedAttacks: readonly Attack[] = [
  { name: `${largeMb} MB of JSON`, bytes: `{"name":"${'x'.repeat(largeBytes)}"}`, statuses: [413] },
  { name: `${largeMb} MB of blanks`, bytes: ' '.repeat(largeBytes), statuses: [413] },
  { name: `${largeMb} MB that are no JSON at all`, bytes: new Uint8Array(largeBytes), statuses: [413] },
  { name: 'arrays 10,000 deep', bytes: deep('[', ']', ''), statuses: [400] },
  { name: 'objects 10,000 deep', bytes: deep('{"a":', '}', '1'), statuses: [400] },
  { name: 'a name 10,000 deep', bytes: `{"name":${deep('[', ']', '')}}`, statuses: [400] },
  { name: '10,000 open brackets', bytes: '['.repeat(10_000), statuses: [400] },
  ...[
    'text/plain',
    'text/html; charset=utf-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'application/json-seq',
    'json',
    'application/octet-stream'
  ].map(contentType => ({
    name: `JSON with the content type ${contentType}`,
    bytes: '{}',
    contentType,
    statuses: [415]
  })),
  { name: 'bytes that are not UTF-8', bytes: bytesOf('{"name":"\xff\xfe"}'), statuses: [400] },
  { name: 'overlong UTF-8', bytes: bytesOf('{"name":"\xc0\xaf"}'), statuses: [400] },
  { name: 'a surrogate in UTF-8', bytes: bytesOf('{"name":"\xed\xa0\x80"}'), statuses: [400] },
  { name: 'UTF-16', bytes: Uint8Array.from(Buffer.from('{"name":"x"}', 'utf16le')), statuses: [400] },
  { name: 'half a body', bytes: '{"name":"x', statuses: [400] },
  { name: 'two bodies', bytes: '{"name":"x"}{"name":"y"}', statuses: [400] },
  { name: 'JSON with a comment', bytes: '{"name":"x"/*y*/}', statuses: [400] },
  { name: 'a raw NUL', bytes: '{"name":"a\0b"}', statuses: [400] },
  { name: 'a raw line break in a string', bytes: '{"name":"a\nb"}', statuses: [400] },
  { name: 'a number of 100,000 digits in a list', bytes: `[${'9'.repeat(100_000)}]`, statuses: [400] },
  { name: 'a list', bytes: '[{"name":"x"}]', statuses: [400] },
  { name: 'a string', bytes: '"name"', statuses: [400] }
]

/** The members of a body as JSON text, without the braces. */
const inside = (body: Body) => JSON.stringify(body).slice(1, -1)

/** Variations of a valid body that may be accepted or refused, but do no harm. */
export const oddAttacks: readonly (Omit<Attack, 'bytes'> & { readonly spoil: (body: Body) => string })[] = [
  {
    name: 'every key twice',
    spoil: body => `{${inside(body)},${inside(body)}}`,
    statuses: [200, 400, 404, 409]
  },
  {
    name: '__proto__',
    spoil: body => `{"__proto__":{"is_enabled":false,"weight":9,"polluted":"yes"},${inside(body)}}`,
    statuses: [200, 400, 404, 409]
  },
  {
    name: 'constructor',
    spoil: body =>
      `{"constructor":{"prototype":{"polluted":"yes"}},"prototype":{"polluted":"yes"},${inside(body)}}`,
    statuses: [200, 400, 404, 409]
  },
  {
    name: 'names of methods',
    spoil: body => `{"toString":1,"valueOf":null,"hasOwnProperty":[],"toJSON":"x","then":{},${inside(body)}}`,
    statuses: [200, 400, 404, 409]
  },
  {
    name: '10,000 unknown keys',
    spoil: body =>
      `{${Array.from({ length: 10_000 }, (_, index) => `"k${index}":1`).join()},${inside(body)}}`,
    statuses: [200, 400, 404, 409]
  }
]

/** Text that must be stored unchanged or refused. It has no leading or trailing blanks and no slashes. */
export const evilTexts = [
  `Robert'); drop table playlists; --`,
  `' or '1'='1`,
  `$1 %s {{7*7}} \${7*7} \\' x`,
  `<script>alert(1)<x`
]

export const impossibleIds = [
  '9007199254740992',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '18446744073709551616',
  '-9223372036854775809',
  '9'.repeat(1_000),
  '+1',
  '1e18',
  '0x7fffffffffffffff',
  '%EF%BC%91',
  'NaN',
  'Infinity',
  'null',
  'undefined',
  '1;drop%20table%20playlists',
  "1'%20or%20'1'='1"
]

/** Paths that try to leave their folder, or lead nowhere; `{id}` is a station. */
export const pathTricks = [
  '/api/station/{id}/..%2fplaylists',
  '/api/station/{id}%2fqueue',
  '/api/station/{id}/%2e%2e/{id}/queue',
  '/api/station/{id}/../{id}/queue',
  '/api/station/{id}/./queue',
  '/api/station/{id}//queue',
  '//api/station/{id}/queue',
  '/api//station/{id}/queue',
  '/api/station/{id}/queue%00',
  '/api/station/{id}%00/queue',
  '/api/station/{id}/queue/1%00',
  '/api/station/%/queue',
  '/api/station/%zz/queue',
  '/api/station/%c0%ae%c0%ae/queue',
  '/api/station/%ff/queue',
  '/api/station/%ed%a0%80/queue',
  '/api/station/{id}/queue/%2e%2e',
  '/API/station/{id}/queue',
  '/api/station/{id}/queue;x=1',
  '/api/station/{id}\\queue',
  '/api/station/../../package.json',
  '/static/../package.json',
  '/static/..%2f..%2fpackage.json',
  '/static/img/%2e%2e/%2e%2e/package.json',
  '/static/img/..%5c..%5cpackage.json',
  '/package.json',
  '/.env',
  '/.data/admin-key',
  '/api/%5f%5fproto%5f%5f',
  '/__proto__',
  '/constructor/prototype'
]

/** Header lines that try to do more than set a value. */
export const headerTricks: readonly (readonly [name: string, lines: string])[] = [
  ['a key of 5,000 characters', `X-API-Key: ${'a'.repeat(5_000)}`],
  ['a bearer of 5,000 characters', `Authorization: Bearer ${'a'.repeat(5_000)}`],
  ['a request id of 5,000 characters', `X-Request-Id: ${'a'.repeat(5_000)}`],
  ['an origin of 5,000 characters', `Origin: https://${'a'.repeat(5_000)}.example`],
  ['a header of 100,000 characters', `X-Long: ${'a'.repeat(100_000)}`],
  ['a thousand headers', Array.from({ length: 1_000 }, (_, index) => `X-${index}: 1`).join('\r\n')],
  ['a bare LF in a value', 'X-Request-Id: abc\nX-Evil: 1'],
  ['an encoded line break in a value', 'X-Request-Id: abc%0d%0aX-Evil: 1'],
  ['an encoded line break in the origin', 'Origin: https://a.example%0d%0aX-Evil: 1'],
  ['a folded value', 'X-Request-Id: abc\r\n X-Evil: 1'],
  ['a NUL in a value', 'X-Request-Id: abc\0X-Evil: 1'],
  ['a value that is not ASCII', 'X-Request-Id: \xff\xfe'],
  ['a key with a NUL', 'X-API-Key: 0123456789abcdef\0'],
  ['a blank in a name', 'X Evil: 1'],
  ['no colon', 'X-Evil']
]
