import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { scratchFolder } from './scratch-folder.ts'

/** Files in PEM. */
export interface Certificate {
  readonly authority: string
  readonly cert: string
  readonly key: string
}

const run = promisify(execFile)

/**
 * Creates an authority and a certificate that it signs for these names and addresses, as `DNS:localhost` or
 * `IP:127.0.0.1`. `hash`: that of the signature.
 */
export async function createCertificate(
  names: readonly string[],
  { authorityKey = 'ec', hash = 'sha256' }: { authorityKey?: 'ec' | 'rsa'; hash?: string } = {}
): Promise<Certificate> {
  const folder = await scratchFolder()
  const file = (name: string) => join(folder, name)
  const keyFiles = (name: string) => ['-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)]
  const short = ['-nodes', '-days', '2', `-${hash}`]
  const elliptic = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', ...short]
  const ofAuthority = authorityKey === 'rsa' ? ['-newkey', 'rsa:2048', ...short] : elliptic
  await run('openssl', ['req', '-x509', ...ofAuthority, '-subj', '/CN=Test authority', ...keyFiles('ca')])
  const authority = ['-CA', file('ca.pem'), '-CAkey', file('ca.key')]
  const extensions = [
    '-addext',
    `subjectAltName=${names.join(',')}`,
    '-addext',
    'basicConstraints=critical,CA:FALSE'
  ]
  await run('openssl', [
    'req',
    '-x509',
    ...elliptic,
    '-subj',
    '/CN=server',
    ...authority,
    ...extensions,
    ...keyFiles('server')
  ])
  return { authority: file('ca.pem'), cert: file('server.pem'), key: file('server.key') }
}
