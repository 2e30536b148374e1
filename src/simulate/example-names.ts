const firstNames =
  words(`Mira Nils Ada Tomas Lena Jonas Iris Samir Greta Paolo Noor Erik Clara Ravi Hanna Diego Yuki Anton
  Maeve Luca Zofia Emil Rosa Kofi Elin Marek Sana Oskar Nadia Hugo`)
const lastNames =
  words(`Holm Okada Lindqvist Reyes Brandt Costa Novak Sato Keller Moreau Hansen Silva Fischer Mensah Berg
  Duarte Kowal Iversen Rossi Haddad Laurent Petrov Nakamura Weber Osei Jansen Moretti Larsen Vogel Amari`)
const qualities =
  words(`Paper Slow Silver Quiet Golden Distant Broken Northern Early Electric Hollow Open Last Hidden Warm
  Second Falling Salt Blue Winter Endless Little Burning Glass Empty Summer Wild Silent Iron Velvet Crooked Bright Heavy
  Lost Morning Paler Deep Simple Red Faded`)
const things =
  words(`Lanterns Harbour Letters Rivers Windows Machines Stations Gardens Signals Mountains Shadows Trains Houses
  Islands Mirrors Bridges Voices Rooms Streets Skies Engines Orchards Flags Tides Strangers Fires Clocks Roads Feathers
  Anchors Cities Rain Echoes Fields Ladders Doors Maps Ships Bells Weather`)

/** The name of an artist by number; 900 are different. */
export function artistName(number: number): string {
  return `${pickWord(firstNames, number)} ${pickWord(lastNames, Math.floor(number / firstNames.length))}`
}

/** A title by number; 1,600 are different. */
export function titleOf(number: number): string {
  return `${pickWord(qualities, number)} ${pickWord(things, Math.floor(number / qualities.length))}`
}

const pickWord = (list: readonly string[], number: number) => list[number % list.length] ?? ''

function words(text: string): string[] {
  return text.split(/\s+/)
}
