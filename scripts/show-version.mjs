/** Prints the version with its commit: `cuewire version`. Exits with 1 if this machine cannot run it. */
import { existsSync, readFileSync } from 'node:fs'

import { findCommit } from './find-commit.mjs'
import { chooseBinding, explainNoBinding, thisPlatform } from './uws-binding.mjs'

const root = new URL('../', import.meta.url)
const isClone = existsSync(new URL('src', root))
const manifest = JSON.parse(
  readFileSync(new URL(isClone ? 'package.json' : 'dist/package.json', root), 'utf8')
)
const commit = isClone ? findCommit(new URL('.', root).pathname) : manifest.commit
console.log(commit ? `${manifest.version}+${commit}` : manifest.version)
if (chooseBinding(thisPlatform()) === null) {
  console.error(`cuewire: ${explainNoBinding(thisPlatform())}`)
  process.exitCode = 1
}
