import { readFileSync } from 'node:fs'

import { programFile } from './program-files.ts'

const text = readFileSync(programFile('package.json'), 'utf8')
const manifest: { readonly version: string } = JSON.parse(text)

/** The version of this program. */
export const version = manifest.version
