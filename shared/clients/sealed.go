package clients

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// Identity is a program's key pair for as long as it runs. Its public half is an annotation of
// the node, which no other node may write: two nodes identify each other by the keys in the API.
type Identity struct{ private *ecdh.PrivateKey }

// NewIdentity makes one.
func NewIdentity() (*Identity, error) {
	private, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make a key for reports of clients: %w", err)
	}
	return &Identity{private: private}, nil
}

// Public is the half that is published.
func (i *Identity) Public() string {
	return base64.StdEncoding.EncodeToString(i.private.PublicKey().Bytes())
}

// Sender is the beginning of a node's public key, with which its datagrams begin, so that its
// reports are known whichever of its addresses they come from.
type Sender [8]byte

// Channel seals reports to one other node, and opens those of that node. It is for one goroutine.
type Channel struct {
	own, peer      Sender
	seal, open     cipher.AEAD
	sent, received uint64
}

// counter is the size in bytes of the number that follows the sender. The nonce is random and not
// made of the number, so a number that is used twice reveals nothing.
const counter = 8

// head is the size of the part that is authenticated and not encrypted, in bytes.
const head = len(Sender{}) + counter

// Channel makes one to the node that published a key. A later channel of the same two keys begins
// with a higher number than an earlier one ended with, as long as the clock is not set back.
func (i *Identity) Channel(published string, now time.Time) (*Channel, error) {
	raw, err := base64.StdEncoding.DecodeString(published)
	if err != nil {
		return nil, errors.New("the published key is not base64")
	}
	public, err := ecdh.X25519().NewPublicKey(raw)
	if err != nil {
		return nil, fmt.Errorf("the published key: %w", err)
	}
	secret, err := i.private.ECDH(public)
	if err != nil {
		return nil, fmt.Errorf("the published key: %w", err)
	}
	own := i.private.PublicKey().Bytes()
	seal, err := aead(secret, own, raw)
	if err != nil {
		return nil, err
	}
	open, err := aead(secret, raw, own)
	if err != nil {
		return nil, err
	}
	return &Channel{own: Sender(own[:len(Sender{})]), peer: Sender(raw[:len(Sender{})]),
		seal: seal, open: open, sent: uint64(now.UnixNano())}, nil
}

// aead is the cipher of one direction, by HKDF (RFC 5869) of the shared secret (RFC 7748 6.1) with
// both public keys.
func aead(secret, from, to []byte) (cipher.AEAD, error) {
	info := "onprem-infra clients " + string(from) + string(to)
	key, err := hkdf.Key(sha256.New, secret, nil, info, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// Peer is the Sender with which the other node's datagrams begin.
func (c *Channel) Peer() Sender { return c.peer }

// SenderOf is the Sender of a datagram; ok is false if that is too short for any report.
func SenderOf(datagram []byte) (s Sender, ok bool) {
	if len(datagram) < head {
		return s, false
	}
	return Sender(datagram[:len(s)]), true
}

// Seal makes the datagram of a report.
func (c *Channel) Seal(report []byte) []byte {
	c.sent++
	out := binary.BigEndian.AppendUint64(c.own[:len(c.own):len(c.own)], c.sent)
	return append(out, c.seal.Seal(nil, nil, report, out)...)
}

// Open returns the report of a datagram, if the other node made it for this one, and after all that
// were opened before.
func (c *Channel) Open(datagram []byte) ([]byte, error) {
	if sender, ok := SenderOf(datagram); !ok || sender != c.peer {
		return nil, errors.New("not a sealed report of this node's")
	}
	number := binary.BigEndian.Uint64(datagram[len(c.peer):])
	if number <= c.received {
		return nil, errors.New("a sealed report that is not newer than the last one")
	}
	report, err := c.open.Open(nil, nil, datagram[head:], datagram[:head])
	if err != nil {
		return nil, errors.New("a report that its sender has not sealed for this node")
	}
	c.received = number
	return report, nil
}
