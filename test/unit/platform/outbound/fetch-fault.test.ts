import { describe, expect, test } from 'vitest'

import { FetchFault, toFetchFault } from '../../../../src/platform/outbound/guarded-fetch.ts'

const thrown = (code: string) => Object.assign(new Error('to https://u:secret@example.com/'), { code })

describe('an error code of Node', () => {
  test.for([
    ['ENOTFOUND', 'dns'],
    ['EAI_AGAIN', 'dns'],
    ['ECONNREFUSED', 'refused'],
    ['ECONNRESET', 'refused'],
    ['EHOSTUNREACH', 'refused'],
    ['ETIMEDOUT', 'refused'],
    ['EPROTO', 'tls'],
    ['CERT_HAS_EXPIRED', 'tls'],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'tls'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'tls'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'tls'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'tls'],
    ['UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY', 'tls'],
    ['UNSPECIFIED', 'tls'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'tls'],
    ['ERR_OSSL_ASN1_HEADER_TOO_LONG', 'tls'],
    ['HPE_INVALID_CONSTANT', 'http'],
    ['HPE_HEADER_OVERFLOW', 'http'],
    ['HPE_CHUNK_EXTENSIONS_OVERFLOW', 'http']
  ] as const)('%s is called %s', ([code, word]) => {
    const fault = toFetchFault(thrown(code))
    expect(fault).toBeInstanceOf(FetchFault)
    expect(fault).toMatchObject({ word, status: 0 })
    expect(String(fault)).toMatch(new RegExp(`\\(${code}\\)\\.$`))
    expect(String(fault)).not.toContain('secret')
  })
})

test('other errors are returned unchanged', () => {
  for (const error of [
    thrown('ERR_INVALID_CHAR'),
    thrown('ERR_HTTP_INVALID_HEADER_VALUE'),
    new Error('x'),
    7
  ])
    expect(toFetchFault(error)).toBe(error)
  const known = new FetchFault('redirect', { status: 302 })
  expect(toFetchFault(known)).toBe(known)
})
