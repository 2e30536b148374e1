import { assert, base64String, constantFrom, integer, property, uint8Array } from 'fast-check'
import { describe, expect, test } from 'vitest'

import {
  matchesSshPublicKey,
  maxSshPublicKeysBytes,
  parseSshPublicKeys
} from '../../../../src/api/admin/ssh-public-keys.ts'
import { anyText } from '../../../support/any-text.ts'
import { cpuTimeMs } from '../../../support/cpu-time.ts'
import { rsaKeyOf1024Bits, sshKeys } from '../../../support/ssh-keys.ts'

const all = Object.values(sshKeys)

function partsOf(key: string): { type: string; base64: string; blob: Buffer } {
  const [type = '', base64 = ''] = key.split(' ')
  return { type, base64, blob: Buffer.from(base64, 'base64') }
}

/** A blob: each part with its length before it. */
function pack(...parts: (string | number[] | Buffer)[]): Buffer {
  return Buffer.concat(
    parts.flatMap(part => {
      const content = Buffer.from(part)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(content.length)
      return [length, content]
    })
  )
}

const line = (type: string, blob: Buffer) => `${type} ${blob.toString('base64')}`
const messagesOf = (text: string) => parseSshPublicKeys(text).problems.map(problem => problem.message)

describe('a key of ssh-keygen is parsed and matches only itself', () => {
  test.for(all.map(key => [partsOf(key), key] as const))('$0.type', ([{ type, base64, blob }, key]) => {
    const { keys, problems } = parseSshPublicKeys(key)
    expect(problems).toEqual([])
    expect(keys).toEqual([{ line: 1, type, blob }])
    expect(all.filter(other => matchesSshPublicKey(keys, other))).toEqual([key])
    expect(matchesSshPublicKey(keys, `${type} ${base64}`)).toBe(true)
    expect(matchesSshPublicKey(keys, `\t${type}  ${base64}\tanother comment\r\n`)).toBe(true)
  })
})

describe('lines end in LF, CRLF or CR', () => {
  test.for(['\n', '\r\n', '\r'])('%j', end => {
    const { keys, problems } = parseSshPublicKeys(['# studio', '', ...all, 'ssh-rsa AAAA', ''].join(end))
    expect(keys.map(key => key.line)).toEqual(all.map((_, index) => index + 3))
    expect(problems.map(problem => problem.line)).toEqual([all.length + 3])
  })
})

test('white space and a byte order mark before the type, and white space after it, are ignored', () => {
  const { type, base64 } = partsOf(sshKeys.ed25519)
  for (const key of [`  \t${sshKeys.ed25519}`, `\uFEFF${sshKeys.ed25519}`, `${type} \t ${base64}\t`]) {
    expect(matchesSshPublicKey(parseSshPublicKeys(key).keys, sshKeys.ed25519)).toBe(true)
  }
})

describe('other lines are comments and never match', () => {
  test.for([
    '',
    '# ssh-ed25519',
    `#${sshKeys.ed25519}`,
    `no-pty ${sshKeys.ed25519}`,
    `from="10.0.0.0/8",no-pty ${sshKeys.ed25519}`,
    `SSH-ED25519 ${partsOf(sshKeys.ed25519).base64}`,
    partsOf(sshKeys.ed25519).base64,
    'ssh-dss AAAAB3NzaC1kc3MAAACBAP'
  ])('%s', text => {
    expect(parseSshPublicKeys(text)).toEqual({ keys: [], problems: [] })
    expect(matchesSshPublicKey(parseSshPublicKeys(text).keys, text)).toBe(false)
    expect(matchesSshPublicKey(parseSshPublicKeys(sshKeys.ed25519).keys, text)).toBe(false)
  })
})

test('only one line can be offered', () => {
  const { keys } = parseSshPublicKeys(sshKeys.ed25519)
  for (const end of ['\n', '\r', '\r\n']) {
    expect(matchesSshPublicKey(keys, `${sshKeys.ed25519}${end}${sshKeys.rsa3072}`)).toBe(false)
    expect(matchesSshPublicKey(keys, `# comment${end}${sshKeys.ed25519}`)).toBe(false)
  }
})

describe('a line that begins with a key type must be a key', () => {
  const { type, base64, blob } = partsOf(sshKeys.ed25519)
  test.for([
    ['nothing after the type', type, 'there is no key'],
    ['a type without a space', `${type}${base64}`, 'must be followed by a space'],
    ['a no-break space', `${type}\u00A0${base64}`, 'must be followed by a space'],
    ['a certificate', `ssh-rsa-cert-v01@openssh.com ${base64}`, 'must be followed by a space'],
    ['prose', `${type} key of Nils`, 'not valid base64'],
    [
      'no padding',
      `${partsOf(sshKeys.ecdsa256).type} ${partsOf(sshKeys.ecdsa256).base64.slice(0, -1)}`,
      'not valid base64'
    ],
    [
      'the alphabet of URLs',
      `${type} ${base64.replaceAll('+', '-').replaceAll('/', '_')}`,
      'not valid base64'
    ],
    ['a foreign character', `${type} ${base64.slice(0, 40)}*${base64.slice(40)}`, 'not valid base64'],
    ['a type swapped outside', `ssh-rsa ${base64}`, 'not of type ssh-rsa'],
    ['a type swapped inside', line(type, pack('ssh-rsa', Buffer.alloc(32))), `not of type ${type}`],
    [
      'a length beyond the end',
      line(type, Buffer.concat([blob, Buffer.from([255, 255, 255, 255])])),
      'truncated or damaged'
    ],
    ['bytes after the last part', line(type, Buffer.concat([blob, Buffer.of(0)])), 'truncated or damaged'],
    ['a part too many', line(type, Buffer.concat([blob, pack('')])), 'has 2 parts'],
    ['a part too few', line(type, pack(type)), 'has 0 parts'],
    ['a short point', line(type, pack(type, Buffer.alloc(31))), 'not 32 bytes'],
    ['a long point', line(type, pack(type, Buffer.alloc(33))), 'not 32 bytes']
  ] as const)('%s', ([, text, reason]) => {
    const { keys, problems } = parseSshPublicKeys(`# studio\n${text}`)
    expect(keys).toEqual([])
    expect(problems).toEqual([{ line: 2, message: expect.stringMatching(/^Line 2: .+\.$/) }])
    expect(problems[0]?.message).toContain(reason)
    expect(matchesSshPublicKey(parseSshPublicKeys(all.join('\n')).keys, text)).toBe(false)
  })

  test.for(all.map(key => partsOf(key)))(
    '$type cut anywhere is refused',
    ({ type: cutType, blob: whole }) => {
      for (let length = 0; length < whole.length; length += 1) {
        const { keys, problems } = parseSshPublicKeys(line(cutType, whole.subarray(0, length)))
        expect(keys).toEqual([])
        expect(problems).toHaveLength(1)
      }
    }
  )
})

describe('an elliptic curve key has the curve of its type and an uncompressed point', () => {
  const type = 'ecdsa-sha2-nistp256'
  const point = Buffer.concat([Buffer.of(4), Buffer.alloc(64, 7)])
  test.for([
    ['another curve', pack(type, 'nistp384', point), 'curve'],
    ['a short point', pack(type, 'nistp256', point.subarray(0, 64)), '65 bytes'],
    [
      'a compressed point',
      pack(type, 'nistp256', Buffer.concat([Buffer.of(2), Buffer.alloc(32, 7)])),
      '65 bytes'
    ],
    ['a hybrid point', pack(type, 'nistp256', Buffer.concat([Buffer.of(6), Buffer.alloc(64, 7)])), '65 bytes']
  ] as const)('%s', ([, blob, reason]) => {
    expect(messagesOf(line(type, blob))).toEqual([expect.stringContaining(reason)])
  })

  test('an unmodified key is parsed', () => {
    expect(messagesOf(line(type, pack(type, 'nistp256', point)))).toEqual([])
  })
})

describe('a security key names its application', () => {
  const type = 'sk-ssh-ed25519@openssh.com'
  test.for([
    ['the usual', pack(type, Buffer.alloc(32), 'ssh:'), []],
    ['one of its own', pack(type, Buffer.alloc(32), 'ssh:studio'), []],
    ['none', pack(type, Buffer.alloc(32)), [expect.stringContaining('has 1 parts')]],
    ['with a zero byte', pack(type, Buffer.alloc(32), 'ssh:\0'), [expect.stringContaining('zero byte')]]
  ] as const)('%s', ([, blob, messages]) => {
    expect(messagesOf(line(type, blob))).toEqual(messages)
  })
})

describe('an RSA key has at least 2048 bits and valid numbers', () => {
  const rsa = (exponent: number[], modulus: number[]) => line('ssh-rsa', pack('ssh-rsa', exponent, modulus))
  const usual = [1, 0, 1]
  const modulus = (...bytes: number[]) => [...bytes, ...Array.from({ length: 254 }, () => 0xa5), 1]
  test.for([
    ['2048 bits', rsa(usual, modulus(0, 0x80)), []],
    ['2047 bits', rsa(usual, modulus(0x7f)), [/has 2047 bits/]],
    ['exponent 3', rsa([3], modulus(0, 0x80)), []],
    ['exponent 1', rsa([1], modulus(0, 0x80)), [/exponent/]],
    ['an even exponent', rsa([4], modulus(0, 0x80)), [/exponent/]],
    ['exponent 0', rsa([], modulus(0, 0x80)), [/exponent/]],
    ['a negative exponent', rsa([0x81], modulus(0, 0x80)), [/exponent/]],
    ['an exponent with a needless zero', rsa([0, 3], modulus(0, 0x80)), [/exponent/]],
    ['a negative modulus', rsa(usual, modulus(0x80)), [/modulus/]],
    ['a modulus with a needless zero', rsa(usual, modulus(0, 0, 0x80)), [/modulus/]],
    ['an even modulus', rsa(usual, [...modulus(0, 0x80), 2]), [/modulus/]],
    ['modulus 0', rsa(usual, []), [/modulus/]],
    ['1024 bits, from ssh-keygen', rsaKeyOf1024Bits, [/has 1024 bits/]]
  ] as const)('%s', ([, text, reasons]) => {
    expect(messagesOf(text)).toEqual(reasons.map(reason => expect.stringMatching(reason)))
  })
})

test('the text has at most 16 KiB, counted in bytes', () => {
  const room = maxSshPublicKeysBytes - Buffer.byteLength(`${sshKeys.ed25519}\n#`)
  expect(parseSshPublicKeys(`${sshKeys.ed25519}\n#${'x'.repeat(room)}`).keys).toHaveLength(1)
  for (const more of ['x'.repeat(room + 1), '\u00E9'.repeat(room / 2 + 1), 'x'.repeat(20_000_000)]) {
    expect(parseSshPublicKeys(`${sshKeys.ed25519}\n#${more}`)).toEqual({
      keys: [],
      problems: [{ line: 0, message: 'The public keys are longer than 16 KiB.' }]
    })
  }
})

test('texts that are meant to be slow are parsed quickly', () => {
  const startedAt = cpuTimeMs()
  for (const piece of ['ssh-rsa ', 'ssh-rsa\n', '\t', '\n', '\r', 'ssh-rsa AAAA\n', '\uFEFF']) {
    parseSshPublicKeys(piece.repeat(maxSshPublicKeysBytes / Buffer.byteLength(piece)))
    parseSshPublicKeys(`ssh-rsa AAAA${piece.repeat(maxSshPublicKeysBytes / Buffer.byteLength(piece) - 6)}x`)
  }
  // 30 ms on a slow machine; a reader that goes back and forth takes seconds.
  expect(cpuTimeMs() - startedAt).toBeLessThan(1_000)
})

const type = constantFrom(...all.map(key => partsOf(key).type))

test('any text and blob is parsed without throwing, and each line is at most one key or one problem', () => {
  const check = (text: string) => {
    const { keys, problems } = parseSshPublicKeys(text)
    const lines = [...keys, ...problems].map(({ line: number }) => number)
    expect(new Set(lines).size).toBe(lines.length)
    expect(typeof matchesSshPublicKey(keys, text)).toBe('boolean')
  }
  assert(property(anyText({ maxLength: 500 }), check))
  assert(property(uint8Array({ maxLength: 500 }), bytes => check(Buffer.from(bytes).toString('latin1'))))
  assert(property(type, anyText(), (name, rest) => check(`${name} ${rest}\n${name}${rest}`)))
  assert(property(type, base64String({ maxLength: 400 }), (name, base64) => check(`${name} ${base64}`)))
  assert(
    property(type, uint8Array({ maxLength: 300 }), (name, bytes) =>
      check(line(name, Buffer.concat([pack(name), bytes])))
    )
  )
})

test('a key matches itself with any comment, and no key that differs in a byte', () => {
  const comment = anyText().map(text => text.replaceAll(/[\r\n]/g, ''))
  const place = integer({ min: 0, max: 10_000 })
  assert(
    property(constantFrom(...all), comment, comment, place, (key, one, other, at) => {
      const { type: name, base64, blob } = partsOf(key)
      const { keys, problems } = parseSshPublicKeys(`${name} ${base64} ${one}`)
      expect(problems).toEqual([])
      expect(matchesSshPublicKey(keys, `${name} ${base64} ${other}`)).toBe(true)
      const changed = Buffer.from(blob)
      const index = at % blob.length
      changed[index] = (changed[index] ?? 0) ^ (1 + (at % 255))
      expect(matchesSshPublicKey(keys, line(name, changed))).toBe(false)
    })
  )
})
