/** Renders the licenses of bundled packages. Most require that their text is distributed with the code. */
import { readdirSync, readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'

/**
 * Renders name, version and license of each package that contains one of the files, sorted by name and
 * version. Files outside of `node_modules` are ignored.
 *
 * @param {string} folder the project, the base of relative paths
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

/** By code units, independent of the locale. */
function compareTitles({ title: one }, { title: other }) {
  return one < other ? -1 : Number(one > other)
}

/** Includes the license file that webpack writes beside a bundle. */
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
