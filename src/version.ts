import { readFileSync } from 'node:fs'

const text = readFileSync(new URL('../package.json', import.meta.url), 'utf8')
const manifest: { readonly version: string } = JSON.parse(text)

/** The version of this program. */
export const version = manifest.version
