import { describe, expect, test } from 'vitest'

import { help, parseSimulateArguments } from '../../../src/simulate/command.ts'

const nothing = {
  station: null,
  days: 7,
  fromDay: null,
  zone: null,
  seed: null,
  svg: null,
  json: null,
  log: false,
  bench: false
}

test('without options it is a week of the example station', () => {
  expect(parseSimulateArguments([])).toEqual(nothing)
})

test('every option is read, with or without an equals sign', () => {
  const words =
    '--station demo --days=3 --from 2026-03-23 --timezone Europe/Berlin --seed 0 --svg a.svg --json=b.json --log'
  const request = parseSimulateArguments(words.split(' '))
  expect(request).toMatchObject({
    station: 'demo',
    days: 3,
    fromDay: Date.UTC(2026, 2, 23) / 86_400_000,
    seed: 0,
    svg: 'a.svg',
    json: 'b.json',
    log: true,
    bench: false
  })
  expect(request?.zone?.name).toBe('Europe/Berlin')
})

test('help is asked for beside anything, and names every option', () => {
  expect(parseSimulateArguments(['--days', 'x', '-h'])).toBeNull()
  expect(parseSimulateArguments(['--help'])).toBeNull()
  for (const name of ['station', 'days', 'from', 'timezone', 'seed', 'svg', 'json', 'log', 'bench', 'help'])
    expect(help).toContain(`  --${name}`)
})

describe('a mistake is told in words', () => {
  test.for([
    [['--bogus'], 'there is no option --bogus'],
    [['week.svg'], '"week.svg" belongs to no option'],
    [['--svg'], '--svg needs a value'],
    [['--svg', '--log'], '--svg needs a value'],
    [['--svg='], '--svg needs a value'],
    [['--log=yes'], '--log takes no value'],
    [['--days', '0'], '--days "0" is not a number of days from 1 to 31'],
    [['--days', '32'], '--days "32" is not a number of days from 1 to 31'],
    [['--days', '1.5'], '--days "1.5" is not a number of days from 1 to 31'],
    [['--from', '2026-02-30'], '--from "2026-02-30" is not a date of the form YYYY-MM-DD'],
    [['--from', '23.3.2026'], '--from "23.3.2026" is not a date of the form YYYY-MM-DD'],
    [['--timezone', 'Mars/Olympus'], '--timezone "Mars/Olympus" is not a time zone, such as Europe/Berlin'],
    [['--seed', '2147483648'], '--seed "2147483648" is not a whole number from 0 to 2147483647'],
    [['--bench', '--log'], '--bench goes with no other option']
  ] as const)('%j', ([args, problem]) => {
    expect(() => parseSimulateArguments(args)).toThrow(
      `${problem}\nnpm run simulate -- --help lists the options`
    )
  })
})

test('all mistakes are told at once', () => {
  expect(() => parseSimulateArguments(['--days', 'x', '--bogus', '--seed', '-1', 'a'])).toThrow(
    [
      'there is no option --bogus',
      '--seed needs a value',
      '"a" belongs to no option',
      '--days "x" is not a number of days from 1 to 31',
      'npm run simulate -- --help lists the options'
    ].join('\n')
  )
})
