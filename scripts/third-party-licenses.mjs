/**
 * The licenses of the packages that a build contains. Most of them ask that their text goes wherever their code goes.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'

/**
 * Renders the name, version and license of each package that one of the files belongs to, sorted by name and version.
 * Files outside of `node_modules` are ignored. A package without a license file gets the `license` of its package.json.
 *
 * @param {string} folder the project, which relative paths start from
 * @param {Iterable<string>} files
 */
export function renderLicenses(folder, files) {
  const packages = new Map()
  for (const file of files) {
    const path = resolve(folder, file)
    const [, root] = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path) ?? []
    if (root === undefined) continue
    packages.set(root, [...(packages.get(root) ?? []), basename(path)])
  }
  const sections = [...packages].map(([root, names]) => readPackage(root, names))
  const sorted = sections.toSorted(compareTitles)
  // The same version may be installed in two places.
  const texts = new Set(sorted.map(({ title, text }) => `${'-'.repeat(80)}\n${title}\n\n${text}\n`))
  return ['This folder contains code of the following packages.\n', ...texts].join('\n')
}

/** By code units, which are the same everywhere. */
function compareTitles({ title: one }, { title: other }) {
  return one < other ? -1 : Number(one > other)
}

/** A bundle made with webpack has the licenses of what is in it in a file beside it, which is named after it. */
function readPackage(root, names) {
  const { name, version, license = 'none' } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))
  const bundled = names.map(each => `${each}.LICENSE.txt`)
  const isLicense = file => /^(licen[cs]e|copying|copyright|notice)/i.test(file) || bundled.includes(file)
  const texts = readdirSync(root, { withFileTypes: true })
    .filter(entry => entry.isFile() && isLicense(entry.name))
    .map(entry => entry.name)
    .toSorted()
    .map(file => readFileSync(`${root}/${file}`, 'utf8').replaceAll('\r\n', '\n').trim())
  const text = texts.join('\n\n') || 'The package has no license file.'
  return { title: `${name} ${version} (${license})`, text }
}
