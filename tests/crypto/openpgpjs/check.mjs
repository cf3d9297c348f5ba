// Answers a list of requests on standard input, as the web clients would, with both releases
// of OpenPGP.js that are in use. One answer per request: a text, or null where it refuses.
import * as openpgp6 from "openpgp";
import openpgp5 from "openpgp5";

const releases = { 5: openpgp5, 6: openpgp6 };

const actions = {
  async open(openpgp, { armored, private: own, signer }) {
    const { data } = await openpgp.decrypt({
      message: await openpgp.readMessage({ armoredMessage: armored }),
      decryptionKeys: await openpgp.readPrivateKey({ armoredKey: own }),
      verificationKeys: await openpgp.readKey({ armoredKey: signer }),
      expectSigned: true,
    });
    return data;
  },
  async challenge(openpgp, { text, private: own, recipient }) {
    return openpgp.encrypt({
      message: await openpgp.createMessage({ text }),
      encryptionKeys: await openpgp.readKey({ armoredKey: recipient }),
      signingKeys: await openpgp.readPrivateKey({ armoredKey: own }),
    });
  },
  async generate(openpgp, { type }) {
    const options = type === "rsa" ? { type, rsaBits: 3072 } : { type: "ecc" };
    const userIDs = [{ name: "Grace", email: "grace@example.com" }];
    const made = await openpgp.generateKey({ ...options, userIDs });
    return `${made.privateKey}\n${made.publicKey}`;
  },
};

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const answers = [];
for (const request of JSON.parse(Buffer.concat(chunks).toString())) {
  const answer = actions[request.action](releases[request.release], request);
  answers.push(await answer.catch(() => null));
}
process.stdout.write(JSON.stringify(answers));
