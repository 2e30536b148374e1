import { BlockList, Socket } from 'node:net'

import { beforeEach, describe, expect, test, vi } from 'vitest'

import {
  findTargetProblem,
  findUrlProblem,
  canonicalHostOf
} from '../../../../src/platform/outbound/guard.ts'
import { guardedFetch } from '../../../../src/platform/outbound/guarded-fetch.ts'
import { toNetworkList } from '../../../../src/platform/outbound/networks.ts'

const none = new BlockList()

/** The trick, the URL, and its host by the WHATWG URL standard. */
const forbidden: [trick: string, url: string, host: string][] = [
  // Networks that are not the public internet.
  ['this machine', 'http://127.0.0.1/', '127.0.0.1'],
  ['this machine by another address', 'http://127.255.255.254/', '127.255.255.254'],
  ['this machine as no address', 'http://0.0.0.0/', '0.0.0.0'],
  ['a private network, 10', 'https://10.0.0.1:443/', '10.0.0.1'],
  ['a private network, 172.16', 'http://172.16.0.1/', '172.16.0.1'],
  ['a private network, 172.31', 'http://172.31.255.255/', '172.31.255.255'],
  ['a private network, 192.168', 'http://192.168.1.1:8080/admin', '192.168.1.1'],
  ['carrier-grade NAT', 'http://100.64.0.1/', '100.64.0.1'],
  ['link-local', 'http://169.254.1.1/', '169.254.1.1'],
  ['metadata of Amazon, Google, Azure', 'http://169.254.169.254/latest/meta-data/', '169.254.169.254'],
  ['metadata of Amazon ECS', 'http://169.254.170.2/v2/credentials', '169.254.170.2'],
  ['metadata of Alibaba', 'http://100.100.100.200/', '100.100.100.200'],
  ['metadata of Oracle', 'http://192.0.0.192/', '192.0.0.192'],
  ['the inner server of Azure', 'http://168.63.129.16/', '168.63.129.16'],
  ['documentation 1', 'http://192.0.2.1/', '192.0.2.1'],
  ['documentation 2', 'http://198.51.100.1/', '198.51.100.1'],
  ['documentation 3', 'http://203.0.113.1/', '203.0.113.1'],
  ['benchmarks', 'http://198.18.0.1/', '198.18.0.1'],
  ['a 6to4 relay', 'http://192.88.99.1/', '192.88.99.1'],
  ['multicast', 'http://239.255.255.250:1900/', '239.255.255.250'],
  ['reserved', 'http://240.0.0.1/', '240.0.0.1'],
  ['broadcast', 'http://255.255.255.255/', '255.255.255.255'],

  // Other notations of the same addresses.
  ['one decimal number', 'http://2130706433/', '127.0.0.1'],
  ['one hexadecimal number', 'http://0x7f000001/', '127.0.0.1'],
  ['one octal number', 'http://017700000001/', '127.0.0.1'],
  ['metadata as a decimal number', 'http://2852039166/', '169.254.169.254'],
  ['metadata as a hexadecimal number', 'http://0xA9FEA9FE/', '169.254.169.254'],
  ['octal parts', 'http://0177.0.0.01/', '127.0.0.1'],
  ['octal parts with many zeros', 'http://0000000177.0.0.1/', '127.0.0.1'],
  ['hexadecimal parts', 'http://0x7f.0x0.0x0.0x1/', '127.0.0.1'],
  ['parts of each kind', 'http://0xA9.254.0251.0xFE/', '169.254.169.254'],
  ['two parts', 'http://127.1/', '127.0.0.1'],
  ['two parts, hexadecimal', 'http://0x7f.1/', '127.0.0.1'],
  ['three parts', 'http://10.0.258/', '10.0.1.2'],
  ['zero', 'http://0/', '0.0.0.0'],
  ['a hexadecimal number without digits', 'http://0x/', '0.0.0.0'],
  ['a dot at the end', 'http://127.0.0.1./', '127.0.0.1'],
  ['full-width digits', 'http://１２７.０.０.１/', '127.0.0.1'],
  ['digits in circles', 'http://①②⑦.⓪.⓪.①/', '127.0.0.1'],
  ['ideographic full stops', 'http://127。0。0。1/', '127.0.0.1'],
  ['a soft hyphen', 'http://127.0.0.\u00AD1/', '127.0.0.1'],
  ['percent-encoded digits', 'http://%31%32%37.0.0.1/', '127.0.0.1'],
  ['percent-encoded dots', 'http://127%2E0%2E0%2E1/', '127.0.0.1'],
  ['a percent-encoded number', 'http://%32130706433/', '127.0.0.1'],
  ['no slash', 'http:127.0.0.1', '127.0.0.1'],
  ['one slash', 'http:/127.0.0.1', '127.0.0.1'],
  ['five slashes', 'http://///127.0.0.1', '127.0.0.1'],
  ['backslashes', 'http:\\\\127.0.0.1\\', '127.0.0.1'],
  ['a scheme in mixed case', 'hTTpS://127.0.0.1/', '127.0.0.1'],
  ['blanks around', ' \u0000 http://127.0.0.1/ \n', '127.0.0.1'],
  ['a tab and line breaks inside', 'ht\ntp://127.\t0.0\r\n.1/', '127.0.0.1'],
  ['a name after a backslash', 'http://127.0.0.1\\@example.com/', '127.0.0.1'],
  ['a name after #', 'http://127.0.0.1#@example.com/', '127.0.0.1'],
  ['a name after ?', 'http://127.0.0.1?@example.com/', '127.0.0.1'],
  ['a port of a server of ours', 'http://127.0.0.1:6379/', '127.0.0.1'],

  // IPv6.
  ['IPv6: this machine', 'http://[::1]/', '::1'],
  ['IPv6: this machine at full length', 'http://[0000:0000:0000:0000:0000:0000:0000:0001]/', '::1'],
  ['IPv6: no address', 'http://[::]/', '::'],
  ['IPv6: mapped', 'http://[::ffff:127.0.0.1]/', '::ffff:7f00:1'],
  ['IPv6: mapped, hexadecimal', 'http://[::FFFF:0A00:0001]/', '::ffff:a00:1'],
  ['IPv6: mapped metadata', 'http://[0:0:0:0:0:ffff:169.254.169.254]/', '::ffff:a9fe:a9fe'],
  ['IPv6: compatible', 'http://[::127.0.0.1]/', '::7f00:1'],
  ['IPv6: compatible to a public address', 'http://[::8.8.8.8]/', '::808:808'],
  ['IPv6: translated', 'http://[::ffff:0:127.0.0.1]/', '::ffff:0:7f00:1'],
  ['IPv6: NAT64', 'http://[64:ff9b::127.0.0.1]/', '64:ff9b::7f00:1'],
  ['IPv6: NAT64 to metadata', 'http://[64:ff9b::a9fe:a9fe]/', '64:ff9b::a9fe:a9fe'],
  ['IPv6: NAT64 of a network of its own', 'http://[64:ff9b:1::10.0.0.1]/', '64:ff9b:1::a00:1'],
  ['IPv6: 6to4', 'http://[2002:7f00:1::]/', '2002:7f00:1::'],
  ['IPv6: 6to4 of a public address', 'http://[2002:808:808::1]/', '2002:808:808::1'],
  ['IPv6: Teredo', 'http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/', '2001:0:4136:e378:8000:63bf:80ff:fffe'],
  ['IPv6: unique local', 'http://[fd00::1]/', 'fd00::1'],
  ['IPv6: unique local, the other half', 'http://[fc00::1]/', 'fc00::1'],
  ['IPv6: metadata of Amazon', 'http://[fd00:ec2::254]/', 'fd00:ec2::254'],
  ['IPv6: metadata of Google', 'http://[fd20:ce::254]/', 'fd20:ce::254'],
  ['IPv6: link-local', 'http://[fe80::1]/', 'fe80::1'],
  ['IPv6: site-local', 'http://[fec0::1]/', 'fec0::1'],
  ['IPv6: multicast', 'http://[ff02::1]/', 'ff02::1'],
  ['IPv6: documentation', 'http://[2001:db8::1]/', '2001:db8::1'],
  ['IPv6: documentation, the newer one', 'http://[3fff::1]/', '3fff::1'],
  ['IPv6: benchmarks', 'http://[2001:2::1]/', '2001:2::1'],
  ['IPv6: ORCHID', 'http://[2001:20::1]/', '2001:20::1'],
  ['IPv6: discarded', 'http://[100::1]/', '100::1'],
  ['IPv6: segment routing', 'http://[5f00::1]/', '5f00::1'],
  ['IPv6: not given out', 'http://[4000::1]/', '4000::1']
]

const sentences = {
  scheme: 'must begin with http:// or https://.',
  user: 'must not contain a user or password.',
  port: 'must use port 80, 443, or 1024 and above.',
  'no URL': 'must be a URL.'
}

/** The trick, the URL, and why it is refused without a DNS lookup. */
const malformed: [trick: string, url: string, why: keyof typeof sentences][] = [
  ['user and password', 'http://u:p@example.com/', 'user'],
  ['a user', 'http://u@example.com/', 'user'],
  ['a password', 'http://:p@example.com/', 'user'],
  ['an address as the user', 'http://127.0.0.1@example.com/', 'user'],
  ['a name as the user', 'http://example.com@127.0.0.1/', 'user'],
  ['a name and a port as the user', 'http://example.com:80@127.0.0.1/', 'user'],
  ['a percent-encoded user', 'http://%75@example.com/', 'user'],
  ['two @', 'http://a@b@example.com/', 'user'],
  ['mail', 'http://example.com:25/', 'port'],
  ['SSH by https', 'https://example.com:22/path', 'port'],
  ['port 0', 'http://example.com:0/', 'port'],
  ['the last port below', 'http://example.com:1023/', 'port'],
  ['a port with zeros before it', 'http://example.com:00025/', 'port'],
  ['FTP', 'ftp://example.com/', 'scheme'],
  ['a file', 'file:///etc/passwd', 'scheme'],
  ['Gopher', 'gopher://127.0.0.1:6379/_FLUSHALL', 'scheme'],
  ['a dictionary', 'dict://127.0.0.1:11211/stats', 'scheme'],
  ['a WebSocket', 'ws://example.com/', 'scheme'],
  ['a script', 'javascript:alert(1)', 'scheme'],
  ['data', 'data:text/plain,hello', 'scheme'],
  ['a blob', 'blob:http://127.0.0.1/1', 'scheme'],
  ['a socket in the file system', 'unix:/var/run/docker.sock', 'scheme'],
  ['an address in another', 'view-source:http://127.0.0.1/', 'scheme'],
  ['nothing', '', 'no URL'],
  ['a name', 'example.com', 'no URL'],
  ['no scheme', '//127.0.0.1/', 'no URL'],
  ['no host', 'http://', 'no URL'],
  ['only a port', 'http://:8080/', 'no URL'],
  ['an open bracket', 'http://[::1', 'no URL'],
  ['a blank', 'http://a b/', 'no URL'],
  ['link-local with a zone', 'http://[fe80::1%eth0]/', 'no URL'],
  ['link-local with an encoded zone', 'http://[fe80::1%25eth0]/', 'no URL'],
  ['this machine with a zone', 'http://[::1%25lo]/', 'no URL'],
  ['IPv4 in brackets', 'http://[127.0.0.1]/', 'no URL'],
  ['a number above 255', 'http://256.0.0.1/', 'no URL'],
  ['a number of 33 bits', 'http://4294967296/', 'no URL'],
  ['loopback and a number of 33 bits', 'http://6425673729/', 'no URL'],
  ['five parts', 'http://127.0.0.0.1/', 'no URL'],
  ['an octal 8', 'http://0188.0.0.1/', 'no URL'],
  ['a port of 17 bits', 'http://example.com:65616/', 'no URL'],
  ['a NUL in the name', 'http://localhost%00.example.com/', 'no URL'],
  ['a line break in the name', 'http://localhost%0A.example.com/', 'no URL'],
  ['a slash in the name', 'http://127.0.0.1%2F.example.com/', 'no URL'],
  ['percent-encoding twice', 'http://%2531%2532%2537.0.0.1/', 'no URL']
]

describe('is refused', () => {
  const connect = vi.spyOn(Socket.prototype, 'connect')
  beforeEach(() => {
    connect.mockClear()
  })

  test.for(forbidden)('%s: %j', async ([, url, host]) => {
    const problem = findUrlProblem(url, none)
    expect([problem?.code, problem?.sentence]).toEqual([
      'unsafe_url',
      'must not lead to a private or special address, unless WEBHOOK_ALLOWED_NETWORKS contains it.'
    ])
    expect(canonicalHostOf(url)).toBe(host)
    expect(await findTargetProblem(url, none)).toEqual(problem)
    await expect(guardedFetch(url, { allowed: none })).rejects.toMatchObject({ word: 'blocked', status: 0 })
    expect(connect).not.toHaveBeenCalled()
  })

  test.for(malformed)('%s: %j', async ([, url, why]) => {
    const problem = findUrlProblem(url, none)
    expect(problem).toEqual({
      code: why === 'no URL' ? 'invalid_url' : 'unsafe_url',
      sentence: sentences[why]
    })
    expect(await findTargetProblem(url, none)).toEqual(problem)
    await expect(guardedFetch(url, { allowed: none })).rejects.toMatchObject({ word: 'blocked', status: 0 })
    expect(connect).not.toHaveBeenCalled()
  })
})

describe('passes', () => {
  test.for<[why: string, url: string, host: string]>([
    ['a name', 'http://example.com', 'example.com'],
    ['a name in capitals', 'HTTPS://EXAMPLE.COM/hook?x=1#y', 'example.com'],
    ['port 80 by https', 'https://example.com:80/', 'example.com'],
    ['port 443 by http', 'http://example.com:443/', 'example.com'],
    ['the first port above', 'https://example.com:1024/', 'example.com'],
    ['the last port', 'https://example.com:65535/', 'example.com'],
    ['a port without digits', 'https://example.com:/', 'example.com'],
    ['a public address', 'http://93.184.215.14/', '93.184.215.14'],
    ['a public address as a number', 'http://134744072/', '8.8.8.8'],
    ['a public IPv6 address', 'http://[2606:2800:21f::8b2c]/', '2606:2800:21f::8b2c'],
    ['a public address, mapped', 'http://[::ffff:8.8.8.8]/', '::ffff:808:808'],
    ['a public address by NAT64', 'http://[64:ff9b::8.8.8.8]/', '64:ff9b::808:808'],
    ['a name of other letters', 'https://hörer.example/', 'xn--hrer-5qa.example'],
    ['a name that begins like an address', 'http://127.0.0.1.example.com/', '127.0.0.1.example.com'],
    ['an address in the query', 'https://example.com/?to=http://127.0.0.1/', 'example.com'],
    ['an address after a backslash', 'http://example.com\\@127.0.0.1/', 'example.com'],
    ['an address after #', 'http://example.com#@127.0.0.1/', 'example.com'],
    ['an empty user before the @', 'http://@example.com/', 'example.com'],
    // Detected by the DNS lookup: test/integration/guarded-names.test.ts.
    ['localhost', 'http://localhost/', 'localhost'],
    ['localhost with a dot', 'http://LOCALHOST./', 'localhost.'],
    ['an inner name', 'http://redis:6379/', 'redis']
  ])('%s: %j', ([, url, host]) => {
    expect(findUrlProblem(url, none)).toBeNull()
    expect(canonicalHostOf(url)).toBe(host)
  })
})

describe('with allowed networks', () => {
  const allowed = toNetworkList(['10.1.0.0/16', 'fd00:1::/32', '127.0.0.1', '169.254.10.0/24'])

  test.for([
    ['an address of one', 'http://10.1.2.3/', true],
    ['the same as a number', 'http://0xA010203/', true],
    ['the same, mapped', 'http://[::ffff:10.1.2.3]/', true],
    ['the same by NAT64', 'http://[64:ff9b::10.1.2.3]/', false],
    ['the same, compatible', 'http://[::10.1.2.3]/', false],
    ['its neighbour', 'http://10.2.0.1/', false],
    ['an IPv6 address of one', 'http://[fd00:1::5]/', true],
    ['its neighbour of IPv6', 'http://[fd00:2::5]/', false],
    ['the one address', 'http://127.1/', true],
    ['the one after it', 'http://127.0.0.2/', false],
    ['metadata', 'http://169.254.169.254/', false],
    ['an allowed address at a port below 1024', 'http://10.1.2.3:25/', false],
    ['an allowed address with a user', 'http://u@10.1.2.3/', false],
    ['an allowed address by another scheme', 'ftp://10.1.2.3/', false]
  ] as const)('%s: %j %j', ([, url, passes]) => {
    expect(findUrlProblem(url, allowed)?.code ?? null).toBe(passes ? null : 'unsafe_url')
  })
})
