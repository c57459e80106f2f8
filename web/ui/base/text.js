// Text as it is: control characters, characters that change the direction of what follows, and ones without
// width are named, so that no text can pass for another.

// C0 but tab and newline, DEL, C1, soft hyphen, zero width and bidi marks, separators, fillers, specials, tags.
const unseen =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]|[\ud800-\udfff]/u;
const unseenAll = new RegExp(unseen.source, "gu");

export const needsMarks = (text) => unseen.test(text);

const nameOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

// [{text} or {mark: "U+202E"}, …]
export function splitMarks(text) {
  const parts = [];
  let from = 0;
  for (const found of text.matchAll(unseenAll)) {
    if (found.index > from) parts.push({text: text.slice(from, found.index)});
    parts.push({mark: nameOf(found[0])});
    from = found.index + found[0].length;
  }
  if (from < text.length) parts.push({text: text.slice(from)});
  return parts;
}

// For places that take no elements.
export const plainText = (text) => text.replace(unseenAll, (character) => `⟨${nameOf(character)}⟩`);
